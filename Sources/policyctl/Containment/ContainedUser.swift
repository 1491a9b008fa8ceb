import CommandLineKit
import Glibc
import LinuxFiles
import PreferencesCore

/// The user for whom a program is contained, and where this user's things are on the outside.
struct ContainedUser {
  let userID = ProcessIdentity.effectiveUserID
  /// `$HOME` as programs know it, without superfluous slashes.
  let home: String
  /// The same without any link.
  let realHome: String
  let configurationDirectory: String
  let dataDirectory: String
  var containers: ContainerDirectories { ContainerDirectories(dataDirectory: dataDirectory) }
  /// `$XDG_RUNTIME_DIR`, nil where there is none.
  let runtimeDirectory: String?
  /// Where it is inside.
  var insideRuntimeDirectory: String { "/run/user/\(userID)" }

  init() throws(CommandFailure) {
    let stated = UserLocations.homeDirectory()
    guard let home = Self.plainPath(stated), home != "/" else {
      throw CommandFailure(.unavailable, "HOME is '\(TerminalText.escape(stated))', where no container can be put")
    }
    self.home = home
    realHome = SymbolicLink.resolved(home) ?? home
    configurationDirectory = UserLocations.configurationDirectory(home: home)
    dataDirectory = UserLocations.dataDirectory(home: home)
    runtimeDirectory = EnvironmentVariables.nonEmpty("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
    try requireHidden()
  }

  /// What is private must not be where everybody's programs are, since that is shown whole.
  private func requireHidden() throws(CommandFailure) {
    for path in [home, realHome, configurationDirectory, dataDirectory] {
      let real = PathText.resolvedAsFarAsThere(path)
      for shown in ContainerView.programDirectories + ContainerView.systemDirectories
      where PathText.contains(shown, real) || PathText.contains(real, shown) {
        throw CommandFailure(
          .unavailable,
          "\(TerminalText.escape(path)) is in or around \(shown), which contained programs see; nothing can be hidden there"
        )
      }
    }
  }

  /// An absolute path without empty components; nil for a relative one, or one with `.` or `..`.
  private static func plainPath(_ path: String) -> String? {
    guard path.hasPrefix("/") else { return nil }
    let parts = path.split(separator: "/")
    if parts.contains(".") || parts.contains("..") { return nil }
    return "/" + parts.joined(separator: "/")
  }
}

/// Paths compared by whole components. Nothing is asked of the file system but by `resolvedAsFarAsThere`.
enum PathText {
  /// Whether `inner` is `outer` or lies in it.
  static func contains(_ outer: String, _ inner: String) -> Bool {
    inner == outer || outer == "/" || (inner.hasPrefix(outer) && inner.utf8.dropFirst(outer.utf8.count).first == 0x2f)
  }

  /// `inner` below `outer`, which contains it and is another.
  static func below(_ outer: String, _ inner: String) -> String {
    String(inner.utf8.dropFirst(outer == "/" ? 1 : outer.utf8.count + 1)) ?? inner
  }

  /// The path without any link, of which the last components may be missing.
  static func resolvedAsFarAsThere(_ path: String) -> String {
    if let real = SymbolicLink.resolved(path) { return real }
    let parent = FilePath.parent(of: path)
    if parent == path || parent == "." { return path }
    return FilePath.join(resolvedAsFarAsThere(parent), FilePath.name(of: path))
  }
}
