/// The system calls that a contained program is refused, as a classic BPF program that bubblewrap loads (seccomp(2)).
///
/// The namespaces hide files, processes and sockets. Two doors are neither:
///
/// - the terminal: `ioctl(TIOCSTI)` types into it what the shell outside reads once the program has ended, and
///   `ioctl(TIOCLINUX)` can paste into a console;
/// - the kernel's key rings, which belong to the user and not to a namespace.
///
/// They answer `EPERM`. So do all calls of another architecture than the machine's (32-bit programs, x32), since their
/// numbers mean other calls.
enum SystemCallFilter {
  /// The program's bytes; nil for an architecture that is not known here, whose programs then get no terminal.
  static var program: [UInt8]? {
    #if arch(x86_64)
      // AUDIT_ARCH_X86_64; ioctl, add_key, request_key, keyctl of arch/x86/entry/syscalls/syscall_64.tbl.
      return bytes(architecture: 0xc000_003e, ioctl: 16, keys: [248, 249, 250])
    #elseif arch(arm64)
      // AUDIT_ARCH_AARCH64; the same of include/uapi/asm-generic/unistd.h.
      return bytes(architecture: 0xc000_00b7, ioctl: 29, keys: [217, 218, 219])
    #else
      return nil
    #endif
  }

  /// One instruction of `struct sock_filter`: a code, two jumps counted from the next instruction, a constant.
  private struct Instruction {
    var code: UInt16
    var ifTrue: UInt8 = 0
    var ifFalse: UInt8 = 0
    var constant: UInt32
  }

  // The codes of linux/bpf_common.h that are used.
  private static let load: UInt16 = 0x20  // BPF_LD | BPF_W | BPF_ABS
  private static let jumpIfEqual: UInt16 = 0x15  // BPF_JMP | BPF_JEQ | BPF_K
  private static let jumpIfAtLeast: UInt16 = 0x35  // BPF_JMP | BPF_JGE | BPF_K
  private static let answer: UInt16 = 0x06  // BPF_RET | BPF_K

  // Where `struct seccomp_data` has what is looked at, on machines that store the low half first, as both do.
  private static let callNumber: UInt32 = 0
  private static let callArchitecture: UInt32 = 4
  /// The low half of the second argument: the kernel looks at no more of an ioctl's number, so neither may we.
  private static let secondArgument: UInt32 = 24

  private static let allow: UInt32 = 0x7fff_0000  // SECCOMP_RET_ALLOW
  private static let refuse: UInt32 = 0x0005_0000 | 1  // SECCOMP_RET_ERRNO | EPERM
  /// Set in the numbers of x32's calls, which have the architecture of x86_64 (__X32_SYSCALL_BIT).
  private static let x32: UInt32 = 0x4000_0000
  private static let pushIntoTerminal: UInt32 = 0x5412  // TIOCSTI
  private static let console: UInt32 = 0x541c  // TIOCLINUX

  private static func bytes(architecture: UInt32, ioctl: UInt32, keys: [UInt32]) -> [UInt8] {
    var program = [
      Instruction(code: load, constant: callArchitecture),
      Instruction(code: jumpIfEqual, ifTrue: 1, constant: architecture),
      Instruction(code: answer, constant: refuse),
      Instruction(code: load, constant: callNumber),
      Instruction(code: jumpIfAtLeast, ifFalse: 1, constant: x32),
      Instruction(code: answer, constant: refuse),
    ]
    for key in keys {
      program.append(Instruction(code: jumpIfEqual, ifFalse: 1, constant: key))
      program.append(Instruction(code: answer, constant: refuse))
    }
    program += [
      Instruction(code: jumpIfEqual, ifTrue: 1, constant: ioctl),
      Instruction(code: answer, constant: allow),
      Instruction(code: load, constant: secondArgument),
      Instruction(code: jumpIfEqual, ifTrue: 1, constant: pushIntoTerminal),
      Instruction(code: jumpIfEqual, ifFalse: 1, constant: console),
      Instruction(code: answer, constant: refuse),
      Instruction(code: answer, constant: allow),
    ]
    return program.flatMap { one in
      [
        UInt8(truncatingIfNeeded: one.code), UInt8(truncatingIfNeeded: one.code >> 8), one.ifTrue, one.ifFalse,
        UInt8(truncatingIfNeeded: one.constant), UInt8(truncatingIfNeeded: one.constant >> 8),
        UInt8(truncatingIfNeeded: one.constant >> 16), UInt8(truncatingIfNeeded: one.constant >> 24),
      ]
    }
  }
}
