import Glibc
import LinuxFiles
import PropertyList
import TestPrograms
import Testing

@testable import PreferencesCore

/// Disks and files that refuse: nothing is lost that was there, nothing is moved, and the failure is told.
@Suite struct FaultyDiskTests {
  let fixture = Fixture()

  private func names() -> [String] {
    ((try? Directory.names(in: fixture.configuration)) ?? []).filter { $0 != "managed-preferences" }
  }

  /// Gives the fixture to an ordinary user, whom `becomeSomebody` makes of a child process.
  private func giveAway() {
    fixture.give(to: 1234)
  }

  @Test func aDirectoryWithoutWritePermission() async {
    fixture.store(["k": 1])
    giveAway()
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      becomeSomebody()
      chmod(fixture.configuration, 0o555)
      let list = fixture.list()
      list.set(2, forKey: "k")
      guard list.integer("k") == 2 else { exit(1) }
      if list.synchronize() { exit(2) }
      guard
        list.faults.map(\.description) == [
          "\(fixture.file()): cannot create directory \(fixture.configuration)/managed-preferences: Permission denied"
        ]
      else { exit(3) }
      guard fixture.stored() == ["k": 1] else { exit(4) }
      // What waits in memory is written when it can be.
      chmod(fixture.configuration, 0o700)
      guard list.synchronize(), list.faults.isEmpty, fixture.stored() == ["k": 2] else { exit(5) }
      exit(0)
    }
  }

  @Test func aFileWithoutReadPermission() async {
    fixture.store(["k": 1, "other": 1])
    giveAway()
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      becomeSomebody()
      chmod(fixture.file(), 0)
      let list = fixture.list()
      let message = "\(fixture.file()): cannot open \(fixture.file()): Permission denied"
      guard list.value("other") == nil, list.faults.map(\.description) == [message] else { exit(1) }
      list.set(2, forKey: "k")
      if list.synchronize() { exit(2) }
      guard list.faults.map(\.kind.rawValue).sorted() == ["unreadable", "unwritable"] else { exit(3) }
      chmod(fixture.file(), 0o600)
      guard list.synchronize(), fixture.stored() == ["k": 2, "other": 1], list.faults.isEmpty else { exit(4) }
      exit(0)
    }
    #expect(names() == ["\(Fixture.domain).plist"])
  }

  /// A file that was read and can't be any more takes nothing from a running process, nor from its observers.
  @Test func aFileThatIsLostLaterTakesNothingAway() throws {
    fixture.store(["k": 1, "other": 1])
    let list = fixture.list()
    let heard = KeyObservationTests.Told()
    let subscription = list.observe("k", handler: heard.note)
    defer { extendLifetime(subscription) }
    try AtomicReplacement.write(Array("{ k = ".utf8), to: fixture.file(), mode: 0o600)
    list.synchronize()
    #expect(list.integer("k") == 1)
    #expect(list.faults.map(\.kind) == [.damaged])
    list.set(2, forKey: "new")
    #expect(list.synchronize())
    #expect(fixture.stored() == ["k": 1, "other": 1, "new": 2])
    #expect(names().filter { $0.contains(".damaged-") }.count == 1)
    #expect(heard.all == [])
  }

  /// An error while reading says nothing about the contents: the file stays where it is.
  @Test(.disabled(if: Fixture.isContained, "in a container no link is followed"))
  func anInputErrorMovesNothing() throws {
    // Reading there is an error of input and output, the only one that can be had without a broken disk.
    symlink("/proc/self/mem", fixture.file())
    let list = fixture.list()
    #expect(
      list.faults.map(\.description) == ["\(fixture.file()): cannot read \(fixture.file()): Input/output error"])
    list.set(1, forKey: "k")
    #expect(!list.synchronize())
    #expect(names() == ["\(Fixture.domain).plist"])
    #expect(SymbolicLink.target(of: fixture.file()) == "/proc/self/mem")
    try Directory.removeFile(fixture.file())
    #expect(list.synchronize())
    #expect(fixture.stored() == ["k": 1])
  }

  @Test func aDirectoryInTheFilesPlaceIsNotMoved() throws {
    try Directory.create(fixture.file())
    let list = fixture.list()
    list.set(1, forKey: "k")
    #expect(!list.synchronize())
    #expect(names() == ["\(Fixture.domain).plist"])
    try Directory.remove(fixture.file())
    #expect(list.synchronize())
  }

  /// A file system of 64 KB, mounted for this process alone.
  @Test func aFullDisk() throws {
    let mount = "mount -t tmpfs -o size=64k none '\(fixture.configuration)' && exec \"$0\" \"$@\""
    let words = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", mount, Peer.program, "fill", fixture.directory]
    guard try Peer.start(["/usr/bin/unshare", "-m", "/bin/sh", "-c", "mount -t tmpfs none /mnt"]).wait() == 0 else {
      print("SKIPPED: a small file system can't be mounted here")
      return
    }
    let peer = try Peer.start(words)
    var lines: [String] = []
    while let line = peer.line() { lines.append(line) }
    #expect(peer.wait() == 0)
    #expect(
      lines == [
        "small: true, [\"k\", \"z\"]",
        "large: false, [\"k\", \"z\"]",
        "cannot write: No space left on device",
        "without the large one: true, [\"k\", \"later\", \"z\"]",
        "files: [\"managed-preferences\", \"org.example.Editor.plist\"]",
      ])
  }

  /// System calls that fail as they do on a network file system without locks, and on a disk that breaks.
  @Test(arguments: [
    ("flock", ENOLCK, "No locks available"), ("fsync", EIO, "Input/output error"),
    ("fsync", ENOSPC, "No space left on device"),
    ("fsync", EDQUOT, "Disk quota exceeded"),
  ])
  func aSystemCallThatFailsIsLoud(call: String, number: Int32, words: String) async {
    fixture.store(["k": 1])
    let directory = fixture.directory
    await #expect(processExitsWith: .success) {
      [directory = directory as String, call = call as String, number = number as Int32, words = words as String] in
      let fixture = Fixture(in: directory)
      let list = fixture.list()
      guard RefusedSystemCall.refuse(call, number) else {
        print("SKIPPED: the kernel lets no system call be refused")
        exit(0)
      }
      list.set(2, forKey: "k")
      if list.synchronize() { exit(1) }
      guard list.faults.first?.message.hasSuffix(": \(words)") == true else { exit(2) }
      guard list.integer("k") == 2, fixture.stored() == ["k": 1] else { exit(3) }
      // Not in the middle of the next attempt, whose temporary file would stay.
      list.state.own.user.disk.lock()
      _exit(0)
    }
    #expect(names() == ["\(Fixture.domain).plist"], "no temporary file is left")
  }
}

/// In a child process that root made: gives up being root.
private func becomeSomebody() {
  if geteuid() == 0, setgid(1234) != 0 || setuid(1234) != 0 { exit(100) }
}

/// Makes a system call of this thread, and of those that it starts, fail, by a filter of the kernel's (seccomp).
enum RefusedSystemCall {
  #if arch(x86_64)
    static let numbers: [String: UInt32] = ["flock": 73, "fsync": 74, "inotify_init1": 294]
  #elseif arch(arm64)
    static let numbers: [String: UInt32] = ["flock": 32, "fsync": 82, "inotify_init1": 26]
  #else
    static let numbers: [String: UInt32] = [:]
  #endif

  private struct Instruction {
    var code: UInt16
    var ifTrue: UInt8 = 0
    var ifFalse: UInt8 = 0
    var operand: UInt32
  }
  private struct Program {
    var count: UInt16
    var start: UnsafePointer<Instruction>
  }

  static func refuse(_ name: String, _ error: Int32) -> Bool {
    typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    guard let number = numbers[name], let symbol = dlsym(nil, "prctl") else { return false }
    let prctl = unsafeBitCast(symbol, to: Control.self)
    let instructions = [
      // The number of the call; if it is ours, the error, else leave to go on.
      Instruction(code: 0x20, operand: 0), Instruction(code: 0x15, ifFalse: 1, operand: number),
      Instruction(code: 0x06, operand: 0x0005_0000 | UInt32(error)), Instruction(code: 0x06, operand: 0x7FFF_0000),
    ]
    return instructions.withUnsafeBufferPointer { buffer in
      var program = Program(count: UInt16(buffer.count), start: buffer.baseAddress!)
      return withUnsafePointer(to: &program) { program in
        prctl(38, 1, 0, 0, 0) == 0 && prctl(22, 2, UInt(bitPattern: program), 0, 0) == 0
      }
    }
  }
}
