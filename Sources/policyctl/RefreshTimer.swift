import CommandLineKit
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList

/// The systemd units of `refresh --install-timer`. The same texts are in Documentation/systemd (a test compares them).
enum RefreshTimer {
  static let serviceName = "managed-preferences-refresh.service"
  static let timerName = "managed-preferences-refresh.timer"

  /// Folders that a unit with `ProtectHome` or `PrivateTmp` does not see, and that users write to.
  static let homes = ["/home", "/root", "/run/user"]
  static let temporaryFolders = ["/tmp", "/var/tmp"]

  /// - Parameters:
  ///   - command: the absolute path of the command.
  ///   - root: empty for the system, else an absolute path.
  static func service(command: String, root: String) -> String {
    let places = [command, root]
    let rootFlag = root.isEmpty ? "" : " --root \(unitWord(root))"
    var protections: [String] = []
    if hiddenFolder(of: places, among: homes) == nil { protections.append("ProtectHome=yes\n") }
    if hiddenFolder(of: places, among: temporaryFolders) == nil { protections.append("PrivateTmp=yes\n") }
    let state = unitWord(root + "/var/lib/managed-preferences")
    let log = unitWord(root + "/var/log/managed-preferences", prefix: "-")
    return """
      [Unit]
      Description=Look up users and time windows of managed preferences anew
      ConditionPathExists=\(root.replacing(byte: "%", with: "%%"))/var/lib/managed-preferences/generation
      After=nss-user-lookup.target

      [Service]
      Type=oneshot
      ExecStart=\(unitWord(command))\(rootFlag) refresh
      # Nothing but its own files is written.
      ProtectSystem=strict
      ReadWritePaths=\(state) \(log)
      \(protections.joined())NoNewPrivileges=yes

      """
  }

  static let timer = """
    [Unit]
    Description=Look up users and time windows of managed preferences anew, each day

    [Timer]
    OnCalendar=daily
    RandomizedDelaySec=1h
    Persistent=yes

    [Install]
    WantedBy=timers.target

    """

  /// The first of the folders that one of the paths is in.
  private static func hiddenFolder(of paths: [String], among folders: [String]) -> String? {
    folders.first { folder in paths.contains { $0 == folder || $0.hasPrefix(folder + "/") } }
  }

  /// A word as systemd reads it back: bare where that is safe, else in double quotes.
  private static func unitWord(_ word: String, prefix: String = "") -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
      default: "/._-+:@,=".utf8.contains(byte)
      }
    }
    if isPlain { return prefix + word }
    let escaped = word.replacing(byte: "\\", with: "\\\\").replacing(byte: "\"", with: "\\\"")
      .replacing(byte: "%", with: "%%").replacing(byte: "$", with: "$$")
    return "\"\(prefix)\(escaped)\""
  }
}

extension RefreshTimer {
  static func paths(below root: String) -> [String] {
    [serviceName, timerName].map { root + "/etc/systemd/system/" + $0 }
  }

  /// Removes the units where they are.
  ///
  /// - Returns: the paths that were removed.
  static func remove(below root: String) throws(CommandFailure) -> [String] {
    var removed: [String] = []
    do throws(FileError) {
      for path in paths(below: root) where (try? FileMetadata.of(path, followingLinks: false)) != nil {
        try Directory.removeFile(path)
        removed.append(path)
      }
    } catch {
      throw CommandFailure(error, while: .writing)
    }
    return removed
  }

  /// What `install` did.
  struct Installed {
    /// Both units, and whether each had to be written.
    var units: [(path: String, isChanged: Bool)]
    /// The system reads units only where it looks for them.
    var isSystem: Bool

    func text() -> String {
      var text = units.map { "\($0.isChanged ? "Created" : "Unchanged:") \($0.path)\($0.isChanged ? "." : "")\n" }
        .joined()
      if !isSystem {
        text += "Next: sudo systemctl link \(ShellWord.join(units.map(\.path)))\n"
      }
      return text + "Next: sudo systemctl enable --now \(timerName)\n"
    }
  }

  /// Writes both units; `ExecStart` names the command that runs now, and the root that it was given.
  static func install(for installation: Installation) throws(CommandFailure) -> Installed {
    let command = ProcessIdentity.executablePath() ?? "/usr/bin/policyctl"
    let isSystem = installation.root.isEmpty
    if isSystem { try requireSystemCommand(command) }
    let root = absolute(installation.root)
    let paths = paths(below: root)
    let texts = [service(command: command, root: root), timer]
    var units: [(path: String, isChanged: Bool)] = []
    do throws(FileError) { try Directory.createAll(FilePath.parent(of: paths[0])) } catch {
      throw CommandFailure(error, while: .creating)
    }
    for (path, text) in zip(paths, texts) {
      let bytes = Array(text.utf8)
      if let present = try? WholeFile.read(path, limit: 65_536, followingLinks: false).bytes, present == bytes {
        units.append((path, false))
        continue
      }
      // A unit that is a link to /dev/null was masked by somebody who does not want it.
      _ = try OutputFile.requireReplaceable(path)
      _ = try OutputFile.write(bytes, to: path, mode: 0o644)
      units.append((path, true))
    }
    return Installed(units: units, isSystem: isSystem)
  }

  /// What systemd runs as root each day has to be where root alone writes, and where the unit sees it.
  private static func requireSystemCommand(_ command: String) throws(CommandFailure) {
    var why: String?
    if let folder = hiddenFolder(of: [command], among: homes + temporaryFolders) {
      why = "is below \(folder), where a service does not look"
    } else {
      var path = command
      while why == nil {
        if let metadata = try? FileMetadata.of(path), metadata.userID != 0 || metadata.isWritableByGroupOrOthers {
          why =
            path == command ? "could be replaced by others than root" : "is below \(path), where others than root write"
        }
        if path == "/" { break }
        path = FilePath.parent(of: path)
      }
    }
    guard let why else { return }
    throw CommandFailure(
      .unavailable, "\(TerminalText.escape(command)) \(why); the timer needs it in a folder of the system",
      next: "sudo install \(ShellWord.quote(command)) /usr/bin/\(Policyctl.name)",
      "sudo /usr/bin/\(Policyctl.name) refresh --install-timer")
  }

  /// A root as units need it.
  private static func absolute(_ root: String) -> String {
    guard !root.isEmpty, let real = realpath(root, nil) else { return root }
    defer { free(real) }
    return String(cString: real)
  }
}
