import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// `install FILE`: verifies a bundle, narrows it to this host, replaces what is in force.
enum InstallVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "install", summary: "Verify a bundle and put what concerns this host in force, or change nothing.",
      operands: [Operand("FILE", .file)],
      flags: [CommonFlags.allowUnresolved, CommonFlags.allowUnsigned, CommonFlags.format],
      notes: ["Installing the same bundle again changes nothing. An older one is refused."],
      example: "sudo policyctl install lab.bundle")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    let path = call.arguments.operands[0]
    let site = HostSite(call.installation())
    let bundle: Bundle
    do throws(CommandFailure) { bundle = try BundleFile.read(path) } catch {
      throw site.refusing(error, because: error.exitCode == .badInput ? "damaged-bundle" : "reading", of: path, call)
    }
    let view = try site.install(bundle, from: path, call)
    defer { view.reportFaults() }
    try Output.printDone(view.text(), as: call.wantsJSON ? view.jsonLine : nil)
    return .done
  }
}
