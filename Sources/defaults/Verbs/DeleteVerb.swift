import CommandLineKit
import LinuxFiles
import PreferencesCore

/// `delete DOMAIN [KEY]`: a key, or everything in the domain's file.
enum DeleteVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "delete", summary: "Remove a key of a domain, or all keys in its file.",
      operands: [Operand("DOMAIN", .domain), Operand("KEY", .key, optional: true)], flags: [Flags.skipForced],
      notes: [
        "Refused when the key is forced, or any key of the whole domain (exit status 77);\n"
          + "--skip-forced then removes the others. What is not there exits with 1. Says so when\n"
          + "a file that comes first has the key.",
        "", Flags.domainNote,
      ],
      example: "defaults delete org.example.Notes recent")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let reference = try call.requiredDomain()
    guard let key = call.operands.first else {
      try WholeDomain.change(reference, call, operation: "remove", refusesAnyForcedKey: true) {
        values throws(CommandFailure) in
        if values.isEmpty { throw notFound(reference, suggestions: Missing.names(near: reference), call) }
        values = [:]
      }
      return .done
    }
    if call.arguments.has("--skip-forced") {
      throw call.usage("--skip-forced is for whole domains: a forced key alone can't be removed")
    }
    try Refusal(reference, call)?.check([key], operation: "remove")
    try reference.change(call) { values throws(CommandFailure) in
      guard values.removeValue(forKey: key) != nil else {
        Masks.report([key], in: reference, call)
        if values.isEmpty { throw notFound(reference, suggestions: [], call) }
        throw CommandFailure(
          .no,
          "The domain/default pair of (\(reference.shown), \(TerminalText.escape(key))) does not exist; nothing was written"
            + UsageError.didYouMean(Missing.suggestions(key, among: values.keys)),
          next: call.command(["read"] + reference.words))
      }
    }
    Masks.report([key], in: reference, call)
    return .done
  }

  private static func notFound(
    _ reference: DomainReference, suggestions: [String], _ call: Invocation
  ) -> CommandFailure {
    CommandFailure(
      .no, "Domain (\(reference.shown)) not found; nothing was written" + UsageError.didYouMean(suggestions),
      next: call.command("domains"))
  }
}
