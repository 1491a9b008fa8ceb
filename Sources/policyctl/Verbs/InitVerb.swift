import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// `init`: the folders, an enrolment and an empty generation 0.
enum InitVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "init", summary: "Make the folders and an empty generation 0, and enrol this host under its name.",
      flags: [Flag("--host", value: "NAME", .host, "enrol as NAME (default: the system's host name)")],
      notes: ["What is there already stays as it is."],
      example: "sudo policyctl init")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    let site = HostSite(call.installation())
    let made = try site.initialise(host: call.arguments.value("--host"))
    var text = ""
    let folder = site.installation.configurationDirectory
    if made.madeGeneration {
      text += "Created \(folder) and an empty generation 0.\n"
    } else {
      text += made.made.isEmpty ? "\(folder) is there already.\n" : "Completed \(folder).\n"
    }
    let asked = call.arguments.value("--host")
    text += made.isNewlyEnrolled ? "Enrolled as \(made.host).\n" : "Enrolled as \(made.host) before; that stays.\n"
    if !made.isNewlyEnrolled, let asked, asked != made.host.name {
      text += "The name \(TerminalText.escape(asked)) was not taken; it would be by: "
      text += call.command(privileged: true, "enroll", "--host", asked) + "\n"
    }
    let policies = site.installation.policiesDirectory
    text += "Next: write a profile in \(policies) (rename \(SamplePolicy.fileName) to start from it), then: "
    text += call.command(privileged: true, "apply") + "\n"
    defer { for fault in made.faults { Policyctl.warn("\(fault)") } }
    try Output.printDone(text)
    return .done
  }
}
