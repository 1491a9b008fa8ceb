import CommandLineKit
import ForcedDomain
import LinuxFiles

/// Root's verbs ask first, instead of failing half-way.
enum Permission {
  /// Below `--root` the effective user counts as root; on the system itself only root does.
  static func requireRoot(_ call: Invocation) throws(CommandFailure) {
    guard call.installation().root.isEmpty, ProcessIdentity.effectiveUserID != 0 else { return }
    throw CommandFailure(
      .notPermitted, "\(call.verb.name) changes this host and needs root", next: call.again(privileged: true))
  }
}
