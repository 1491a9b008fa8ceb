import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// `apply [DIR]`: check, compile and install here, or nothing at all.
enum ApplyVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "apply", summary: "Check, compile and install a folder of policies on this host, or change nothing.",
      operands: [Operand("DIR", .directory, optional: true)],
      flags: [
        CommonFlags.serial, CommonFlags.allowUnresolved, CommonFlags.allowUnsigned, CommonFlags.allowEmpty,
        CommonFlags.format,
      ],
      notes: [
        "DIR is /etc/managed-preferences/policies where it is left out. Where this host",
        "trusts keys, its local key signs (policyctl key generate --local).",
        "The tests in the policies are not run: policyctl test does that.",
      ],
      example: "sudo policyctl apply policies")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    let site = HostSite(call.installation())
    let folder: PolicyFolder
    do throws(CommandFailure) { folder = try PolicyFolder.read(call, directory: call.arguments.operand(0)) } catch {
      throw site.refusing(
        error, because: "reading", of: call.arguments.operand(0) ?? site.installation.policiesDirectory, call)
    }
    folder.printDiagnostics()
    if folder.hasErrors { throw site.refusing(folder.refusal(call), because: "policies", of: folder.path, call) }
    // Containers alone take the place of containers, never of keys.
    let frees = folder.isEmpty || folder.hasNoKeys && site.hasKeysInForce
    if frees, !call.arguments.has("--allow-empty"), let inForce = site.inForce {
      let failure = CommandFailure(
        .badInput,
        "\(TerminalText.escape(folder.path)) \(site.hasKeysInForce ? "forces and recommends nothing" : "contains no application")"
          + ", and \(inForce); nothing was changed",
        next: site.installAgain(call) ?? call.command(privileged: true, "apply") + " DIR",
        call.again(privileged: call.root == nil, adding: "--allow-empty"))
      throw site.refusing(failure, because: "empty", of: folder.path, call)
    }
    let view = try site.apply(folder, serial: call.arguments.number("--serial"), call)
    defer { view.reportFaults() }
    try Output.printDone(folder.summary + "\n" + view.text(), as: call.wantsJSON ? view.jsonLine : nil)
    return .done
  }
}
