import CommandLineKit
import Glibc
import LinuxFiles
import PreferencesCore

/// `-app NAME`: which domain an application has.
///
/// On macOS an application's name leads to its bundle, which says its identifier. On Linux the nearest things to a bundle
/// are the desktop entry, whose file name is the application's id, and the executable:
///
/// 1. a path: the name of the executable's real file, which is the domain of an application that states none;
/// 2. a desktop entry with the id NAME (`org.example.Editor`, with or without `.desktop`): the id;
/// 3. the one desktop entry whose `Name` is NAME, letter case aside: its id;
/// 4. a command on the `PATH`: as 1.
enum ApplicationDomain {
  static func named(_ name: String) throws(CommandFailure) -> String {
    if name.utf8.contains(UInt8(ascii: "/")) { return try domain(ofExecutable: name) }
    let id = name.hasSuffix(".desktop") ? String(name.dropLast(8)) : name
    let folders = dataDirectories().map { FilePath.join($0, "applications") }
    if folders.contains(where: { isFile(FilePath.join($0, id + ".desktop")) }) { return id }
    let named = ids(ofEntriesNamed: name, in: folders)
    if named.count > 1 {
      throw CommandFailure(
        .usage,
        "\(named.count) applications are called '\(TerminalText.escape(name))': "
          + named.map { TerminalText.escape($0) }.joined(separator: ", "),
        next: "\(Defaults.name) read -app \(ShellWord.quote(named[0]))")
    }
    if let only = named.first { return only }
    for folder in (EnvironmentVariables.nonEmpty("PATH") ?? "").split(separator: ":") where folder.hasPrefix("/") {
      let path = FilePath.join(String(folder), name)
      if access(path, X_OK) == 0, isFile(path) { return try domain(ofExecutable: path) }
    }
    throw CommandFailure(
      .noInput,
      "there is no application '\(TerminalText.escape(name))': no desktop entry of this id or name in "
        + folders.map { TerminalText.escape($0) }.joined(separator: ", ") + ", and no command on the PATH",
      next: "\(Defaults.name) domains")
  }

  private static func domain(ofExecutable path: String) throws(CommandFailure) -> String {
    guard let resolved = realpath(path, nil) else {
      throw CommandFailure(
        .noInput, FileError("find the application", path: TerminalText.escape(path), errno: .current).description)
    }
    defer { free(resolved) }
    return ApplicationIdentity.domain(forExecutable: String(cString: resolved))
  }

  /// The XDG base directories of data, in their order.
  private static func dataDirectories() -> [String] {
    let own =
      EnvironmentVariables.nonEmpty("XDG_DATA_HOME") ?? FilePath.join(UserLocations.homeDirectory(), ".local/share")
    let others = EnvironmentVariables.nonEmpty("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
    return ([own] + others.split(separator: ":").map(String.init)).filter { $0.hasPrefix("/") }
  }

  private static func isFile(_ path: String) -> Bool { (try? FileMetadata.of(path))?.isRegularFile ?? false }

  private static func ids(ofEntriesNamed name: String, in folders: [String]) -> [String] {
    let wanted = name.lowercased()
    var found: [String] = []
    for folder in folders {
      for file in (try? Directory.names(in: folder)) ?? [] where file.hasSuffix(".desktop") {
        let id = String(file.dropLast(8))
        guard !found.contains(id), let title = title(ofEntry: FilePath.join(folder, file)) else { continue }
        if title.lowercased() == wanted { found.append(id) }
      }
    }
    return found
  }

  /// The `Name` of a desktop entry, that of its first group, without translation.
  private static func title(ofEntry path: String) -> String? {
    guard let (bytes, _) = try? WholeFile.read(path, limit: 1 << 20) else { return nil }
    var isInside = false
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      if line.first == UInt8(ascii: "[") {
        if isInside { return nil }
        isInside = line.starts(with: "[Desktop Entry]".utf8)
      } else if isInside, line.starts(with: "Name=".utf8) {
        return String(decoding: line.dropFirst(5), as: UTF8.self)
      }
    }
    return nil
  }
}
