import Glibc
import LinuxFiles

/// The sockets of the user's session that a contained program gets: a display and sound, and no other.
struct SessionSockets {
  /// Where each is, outside and inside.
  private(set) var sockets: [(outside: String, inside: String)] = []
  /// The X server's keys, which are copied.
  private(set) var authority: [UInt8]?
  /// What the program has to know of them.
  private(set) var variables: [String: String] = [:]

  static let authorityFile = ContainerView.ownDirectory + "/xauthority"

  init(_ user: ContainedUser) {
    if let runtime = user.runtimeDirectory {
      let display = EnvironmentVariables.nonEmpty("WAYLAND_DISPLAY") ?? "wayland-0"
      // Its name, or a path.
      add(
        FilePath.join(display.hasPrefix("/") ? "" : runtime, display),
        FilePath.join(user.insideRuntimeDirectory, FilePath.name(of: display)))
      if display.hasPrefix("/") { variables["WAYLAND_DISPLAY"] = FilePath.name(of: display) }
      for name in ["pipewire-0", "pulse/native"] {
        add(FilePath.join(runtime, name), FilePath.join(user.insideRuntimeDirectory, name))
      }
    }
    addX11(user)
  }

  /// `$DISPLAY` is `HOST:NUMBER.SCREEN`; without a host (or with `unix`) the server is reached through a socket.
  private mutating func addX11(_ user: ContainedUser) {
    guard let display = EnvironmentVariables.nonEmpty("DISPLAY"),
      let colon = display.utf8.lastIndex(of: UInt8(ascii: ":"))
    else { return }
    let host = display[..<colon]
    let number = display[colon...].dropFirst().prefix { $0.isASCII && $0.isNumber }
    if host.isEmpty || host == "unix", !number.isEmpty {
      let socket = "/tmp/.X11-unix/X\(number)"
      add(socket, socket)
    }
    let path = EnvironmentVariables.nonEmpty("XAUTHORITY") ?? FilePath.join(user.home, ".Xauthority")
    if let (bytes, _) = try? WholeFile.read(path, limit: 1 << 20) {
      authority = bytes
      variables["XAUTHORITY"] = Self.authorityFile
    }
  }

  private mutating func add(_ outside: String, _ inside: String) {
    guard let metadata = try? FileMetadata.of(outside), metadata.mode & S_IFMT == S_IFSOCK else { return }
    sockets.append((outside, inside))
  }
}
