import CommandLineKit
import ForcedDomain
import LinuxFiles

/// `enroll --host NAME`: the name that patterns and groups are held against.
enum EnrollVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "enroll", summary: "Give this host the name that policies know it by.",
      flags: [Flag("--host", value: "NAME", .host, "the name, short or full")],
      notes: ["The name counts from the next refresh or installation on."],
      example: "sudo policyctl enroll --host lab-a-03")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    guard let name = call.arguments.value("--host") else {
      throw call.usage(.neededFlag(verb: "enroll", flag: "--host", placeholder: "NAME"))
    }
    try Permission.requireRoot(call)
    let site = HostSite(call.installation())
    let before = try site.enroll(as: name)
    var text = before == name ? "Enrolled as \(name) already.\n" : "Enrolled as \(name)"
    if before != name { text += before.map { ", before as \($0).\n" } ?? ".\n" }
    if let made = site.installedHost, made != name {
      text += "Next: \(call.command(privileged: true, "refresh"))\n"
      text +=
        "What is in force was made for \(TerminalText.escape(made)); refresh takes what the same bundle has for \(name).\n"
    } else if site.installedHost != nil, before != name {
      text += "What is in force was made for \(name).\n"
    }
    try Output.printDone(text)
    return .done
  }
}
