import CommandLineKit
import LinuxFiles

/// `check [DIR]`: every mistake at once; writes nothing.
enum CheckVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "check", summary: "Look for every mistake in a folder of policies; write nothing.",
      operands: [Operand("DIR", .directory, optional: true)], flags: [CommonFlags.format],
      notes: [
        "DIR is /etc/managed-preferences/policies where it is left out.",
        "Errors exit with 65, warnings with 0. Documentation/diagnostics.md has all codes.",
      ],
      example: "policyctl check policies")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let folder = try PolicyFolder.read(call, directory: call.arguments.operand(0))
    if call.wantsJSON {
      try Output.print(folder.diagnosticsJSON())
      return folder.hasErrors ? .badInput : .done
    }
    folder.printDiagnostics()
    if folder.hasErrors { throw folder.refusal(call) }
    try Output.print(folder.summary + "\n")
    return .done
  }
}
