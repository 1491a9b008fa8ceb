import CommandLineKit
import LinuxFiles

/// `rename DOMAIN OLD NEW`: one value under another key.
enum RenameVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "rename", summary: "Give a value another key; a value that is there is replaced.",
      operands: [Operand("DOMAIN", .domain), Operand("OLD", .key), Operand("NEW", .key)],
      notes: ["Refused when either key is forced (exit status 77).", "", Flags.domainNote],
      example: "defaults rename org.example.Notes recent lately")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let reference = try call.requiredDomain()
    let (old, new) = (call.operands[0], call.operands[1])
    try Refusal(reference, call)?.check([old, new], operation: "rename")
    try reference.change(call) { values throws(CommandFailure) in
      guard let value = values.removeValue(forKey: old) else {
        throw CommandFailure(
          .no,
          "Key \(TerminalText.escape(old)) does not exist in domain \(reference.shown); nothing was written"
            + UsageError.didYouMean(Missing.suggestions(old, among: values.keys)),
          next: call.command(["read"] + reference.words))
      }
      values[new] = value
    }
    Masks.report([old, new], in: reference, call)
    return .done
  }
}
