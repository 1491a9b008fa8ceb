import CommandLineKit
import LinuxFiles

/// The systemd units of `refresh --install-timer`. The same texts are in Documentation/systemd (a test compares them).
enum RefreshTimer {
  static let serviceName = "managed-preferences-refresh.service"
  static let timerName = "managed-preferences-refresh.timer"

  /// - Parameter command: the absolute path of the command.
  static func service(command: String) -> String {
    """
    [Unit]
    Description=Look up users and time windows of managed preferences anew
    ConditionPathExists=/var/lib/managed-preferences/generation
    After=nss-user-lookup.target

    [Service]
    Type=oneshot
    ExecStart=\(command) refresh
    # Nothing but its own files is written.
    ProtectSystem=strict
    ReadWritePaths=/var/lib/managed-preferences -/var/log/managed-preferences
    ProtectHome=yes
    PrivateTmp=yes
    NoNewPrivileges=yes

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

  /// Writes both units; `ExecStart` names the command that runs now.
  ///
  /// - Returns: the paths.
  static func install(below root: String) throws(CommandFailure) -> [String] {
    let command = ProcessIdentity.executablePath() ?? "/usr/bin/policyctl"
    let paths = paths(below: root)
    do throws(FileError) {
      try Directory.createAll(FilePath.parent(of: paths[0]))
      try AtomicReplacement.write(Array(service(command: command).utf8), to: paths[0], mode: 0o644)
      try AtomicReplacement.write(Array(timer.utf8), to: paths[1], mode: 0o644)
    } catch {
      throw CommandFailure(error, while: .creating)
    }
    return paths
  }
}
