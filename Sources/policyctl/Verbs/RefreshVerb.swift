import CommandLineKit
import ForcedDomain
import LinuxFiles
import PropertyList

/// `refresh`: users and groups looked up anew, the horizon of time windows moved.
enum RefreshVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "refresh", summary: "Look up users and groups anew and expand time windows to a new horizon.",
      flags: [
        Flag("--install-timer", "install systemd units that refresh daily, and no more"),
        CommonFlags.allowUnresolved, CommonFlags.format,
      ],
      notes: ["The bundle stays. Nothing is written where nothing has changed."],
      example: "sudo policyctl refresh")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    let site = HostSite(call.installation())
    if call.arguments.has("--install-timer") {
      let made = try RefreshTimer.install(for: site.installation)
      try Output.printDone(made.text())
      return .done
    }
    let view = try site.refresh(call)
    defer { view.reportFaults() }
    try Output.printDone(view.text(), as: call.wantsJSON ? view.jsonLine : nil)
    return .done
  }
}
