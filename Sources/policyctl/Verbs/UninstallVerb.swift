import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// `uninstall`: the host as it was, users' preferences untouched.
enum UninstallVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "uninstall", summary: "Give this host back as it was; users' preferences stay as they are.",
      notes: ["Removes what init, install and key have made; your policies and the audit log stay."],
      example: "sudo policyctl uninstall")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    let site = HostSite(call.installation())
    let timers = try RefreshTimer.remove(below: site.installation.root)
    let done = try site.uninstall()
    var text = timers.map { "Removed \($0).\n" }.joined()
    for directory in [site.installation.configurationDirectory, site.installation.stateDirectory] {
      if done.removed.contains(directory) { text += "Removed \(directory).\n" }
    }
    let log = site.installation.logDirectory
    if done.kept.contains(where: { $0.hasPrefix(log + "/") }) {
      text += "Kept \(log): the audit log. Remove it when nobody needs it any more.\n"
    }
    for path in done.kept where !path.hasPrefix(log + "/") {
      text += "Kept \(path): it was not made by \(Policyctl.name).\n"
    }
    try Output.printDone(text + "No key is forced any more.\n")
    return .done
  }
}
