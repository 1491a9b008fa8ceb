import CommandLineKit
import PreferencesCore

/// `status`: what is in force here, where it was read, and what is wrong.
enum StatusVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "status", summary: "Tell what is in force on this host, where it was read, and what is wrong.",
      flags: [
        Flag("--user-set", "list unforced keys of managed domains that the user has set"),
        CommonFlags.format,
      ],
      notes: ["Faults exit with 1. A host where nothing is installed has none, and says so."],
      example: "policyctl status")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let view = StatusReport(call).view(withUserSetKeys: call.arguments.has("--user-set"))
    if call.wantsJSON {
      try Output.print(view.json())
    } else {
      try Output.print(view.text(Terminal.palette(for: .output), home: UserLocations.homeDirectory()))
    }
    return view.faults.isEmpty && view.state != "unavailable" ? .done : .no
  }
}
