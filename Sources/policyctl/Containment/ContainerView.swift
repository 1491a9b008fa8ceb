import CProcesses
import CommandLineKit
import ForcedDomain
import Glibc
import LinuxFiles
import PreferencesCore
import PropertyList

/// What a contained program sees, as the arguments of bubblewrap that make it.
///
/// | inside | what | |
/// |---|---|---|
/// | `/usr`, `/bin`, `/sbin`, `/lib…`, `/opt` | programs and libraries | read-only |
/// | `/etc`, parts of `/sys`, `/var/cache/fontconfig` | the system's settings | read-only |
/// | `/var/lib/managed-preferences`, or with `--root` the same of that root below `/run/managed-preferences/root` | the forced domain | read-only |
/// | `$HOME` | the container's home | |
/// | `/tmp`, `/var/tmp`, `/run/user/UID`, `/dev/shm` | empty, and gone with the program | |
/// | `/run/managed-preferences` | what `EnclosingContainer` tells, and the agent's socket | read-only but for `groups` |
/// | what `files` shares | at its own path | |
///
/// That is a list of what is shown, not of what is hidden: what nobody thought of is not there.
struct ContainerView {
  /// Programs: shown where they are, links as links.
  static let programDirectories = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", "/opt"]
  static let systemDirectories = ["/etc"]
  static let ownDirectory = EnclosingContainer.directory
  /// Where the root of `--root` is inside.
  static let rootDirectory = ownDirectory + "/root"

  private(set) var words: [String] = []
  /// What bubblewrap has to get open.
  private(set) var descriptors: [Int32] = []

  /// Whether a path, as it is typed, is shown for every program.
  static func shows(_ path: String) -> Bool {
    (programDirectories + systemDirectories).contains { PathText.contains($0, path) }
  }

  mutating func add(_ more: String...) { words += more }

  /// An argument that names an open file.
  mutating func addDescriptor(_ descriptor: Int32, _ option: String, _ place: String) {
    descriptors.append(descriptor)
    words += [option, String(descriptor), place]
  }

  /// A file with these bytes, which nobody can write.
  mutating func addFile(_ bytes: [UInt8], at place: String, permissions: String = "0444") throws(CommandFailure) {
    words += ["--perms", permissions]
    addDescriptor(try Self.memoryFile(bytes), "--ro-bind-data", place)
  }

  static func memoryFile(_ bytes: [UInt8]) throws(CommandFailure) -> Int32 {
    let descriptor = bytes.withUnsafeBufferPointer { buffer in
      withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { nothing in
        process_memory_file(
          buffer.baseAddress.map { UnsafeRawPointer($0) } ?? UnsafeRawPointer(nothing.baseAddress!), buffer.count)
      }
    }
    if descriptor < 0 { throw CommandFailure(.inputOutput, "cannot make a file in memory: \(Errno.current)") }
    return descriptor
  }

  // MARK: The parts, in the order in which they are laid

  mutating func addNamespaces(network: Bool) {
    add("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
    // A namespace of the program's own could lay another forced domain over this one.
    add("--disable-userns")
    // Root would keep them, and could lay mounts over ours with them.
    add("--cap-drop", "ALL")
    if !network { add("--unshare-net") }
  }

  mutating func addSystem(network: Bool) {
    for path in Self.programDirectories {
      if let target = SymbolicLink.target(of: path), let real = SymbolicLink.resolved(path), Self.shows(real) {
        add("--symlink", target, path)
      } else {
        add("--ro-bind-try", path, path)
      }
    }
    for path in Self.systemDirectories { add("--ro-bind-try", path, path) }
    add("--proc", "/proc", "--dev", "/dev", "--dev-bind-try", "/dev/dri", "/dev/dri")
    // What graphics drivers and the C library ask of the hardware.
    for path in ["/sys/dev/char", "/sys/devices", "/sys/class/drm", "/sys/bus/pci"] { add("--ro-bind-try", path, path) }
    add("--perms", "1777", "--tmpfs", "/tmp", "--perms", "1777", "--tmpfs", "/var/tmp")
    add("--symlink", "/run", "/var/run", "--dir", "/var/empty")
    for path in ["/var/cache/fontconfig", "/var/lib/dbus/machine-id"] { add("--ro-bind-try", path, path) }
    // Resolvers keep the list of name servers in /run, where /etc has a link to it.
    if network, let servers = SymbolicLink.resolved("/etc/resolv.conf"), !Self.shows(servers) {
      add("--ro-bind-try", servers, servers)
    }
  }

  mutating func addInstallation(_ installation: Installation) {
    let inside = Installation(root: installation.root.isEmpty ? "" : Self.rootDirectory)
    // The agent's socket: the kernel names who connects, in a container as outside.
    add("--ro-bind-try", installation.agentSocket, inside.agentSocket)
    if installation.root.isEmpty {
      add("--ro-bind-try", installation.stateDirectory, installation.stateDirectory)
      return
    }
    add("--ro-bind-try", installation.stateDirectory, inside.stateDirectory)
    add("--ro-bind-try", installation.anyUserDefaultsDirectory, inside.anyUserDefaultsDirectory)
  }

  mutating func addSession(_ user: ContainedUser, _ sockets: SessionSockets) throws(CommandFailure) {
    add("--perms", "0700", "--tmpfs", user.insideRuntimeDirectory)
    for socket in sockets.sockets { add("--bind", socket.outside, socket.inside) }
    if let authority = sockets.authority {
      try addFile(authority, at: SessionSockets.authorityFile, permissions: "0400")
    }
  }

  /// The word that is left inside, the groups and the copies of what may be read.
  mutating func addPreferences(
    _ container: EnclosingContainer, groups: [(name: String, descriptor: Int32)], reads: String
  ) throws(CommandFailure) {
    try addFile(container.bytes, at: EnclosingContainer.path)
    add("--dir", EnclosingContainer.groupsDirectory)
    for group in groups {
      addDescriptor(group.descriptor, "--bind-fd", FilePath.join(EnclosingContainer.groupsDirectory, group.name))
    }
    add("--ro-bind", reads, EnclosingContainer.readDirectory)
  }

  /// What is shared outside of the home; what is in the home was laid into it (`process_start`).
  mutating func addShared(_ files: [SharedFile], user: ContainedUser) {
    for file in files where !PathText.contains(user.realHome, file.path) {
      addDescriptor(file.descriptor, "--bind-fd", file.path)
    }
  }

  /// All that bubblewrap made itself to hang the rest in can't be written any more; the filter of system calls.
  mutating func close() throws(CommandFailure) {
    add("--remount-ro", "/")
    guard let filter = SystemCallFilter.program else {
      add("--new-session")
      return
    }
    let descriptor = try Self.memoryFile(filter)
    descriptors.append(descriptor)
    add("--seccomp", String(descriptor))
  }

  /// Where bubblewrap tells about its processes.
  mutating func addStatus(_ descriptor: Int32) {
    descriptors.append(descriptor)
    add("--json-status-fd", String(descriptor))
  }
}
