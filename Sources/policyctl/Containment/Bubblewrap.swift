import CProcesses
import CommandLineKit
import Glibc
import LinuxFiles

/// The program that makes the namespaces, and why it sometimes can't.
enum Bubblewrap {
  static let name = "bwrap"

  static func find() throws(CommandFailure) -> String {
    let folders =
      ["/usr/bin", "/usr/local/bin"]
      + (EnvironmentVariables.nonEmpty("PATH") ?? "").split(separator: ":").map(String.init)
    for folder in folders where folder.hasPrefix("/") {
      let path = FilePath.join(folder, name)
      if access(path, X_OK) == 0 { return path }
    }
    throw CommandFailure(
      .unavailable, "bubblewrap is not installed, and without it nothing can be contained",
      next: "sudo apt install bubblewrap")
  }

  /// Why bubblewrap ended before the program began; what it said itself stands above on standard error.
  static func failure() -> CommandFailure {
    let error = Errno(rawValue: process_try_user_namespace())
    return error.rawValue == 0
      ? CommandFailure(
        .unavailable, "bubblewrap could not start the program; its reason stands above (version 0.8 or later is needed)"
      )
      : namespaceFailure(error)
  }

  /// The kernel refuses a user namespace, with the switch that an administrator can turn.
  static func namespaceFailure(_ error: Errno) -> CommandFailure {
    let refused = "the kernel refuses this user a namespace (\(error)), and without one nothing can be contained"
    if setting("user/max_user_namespaces") == "0" {
      return CommandFailure(.unavailable, refused, next: "sudo sysctl user.max_user_namespaces=15000")
    }
    if setting("kernel/unprivileged_userns_clone") == "0" {
      return CommandFailure(.unavailable, refused, next: "sudo sysctl kernel.unprivileged_userns_clone=1")
    }
    if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" {
      return CommandFailure(
        .unavailable, refused + "; AppArmor allows it to programs with a profile that says 'userns'",
        next: "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0")
    }
    return CommandFailure(.unavailable, refused + "; so it does in a chroot and in many containers")
  }

  private static func setting(_ name: String) -> String? {
    guard let (bytes, _) = try? WholeFile.read("/proc/sys/" + name, limit: 64) else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
