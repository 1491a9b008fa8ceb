import CommandLineKit
import LinuxFiles

/// `explain DOMAIN KEY`: why a key has its value.
enum ExplainVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "explain", summary: "Tell why a key has its value: what decides, and what lost.",
      operands: [Operand("DOMAIN", .domain), Operand("KEY", .key)],
      flags: CommonFlags.context + [CommonFlags.format],
      example: "policyctl explain org.example.Editor AutoSaveInterval")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let question = try Question(call, domain: call.arguments.operands[0])
    let key = call.arguments.operands[1]
    let view = question.explanation(key)
    question.reportFaults()
    if call.wantsJSON {
      try Output.print(view.json())
    } else {
      try Output.print(view.text(Terminal.palette(for: .output), home: question.home))
    }
    // A key that no policy and no file mentions is most likely a slip of the keyboard.
    if view.answer.value == nil, view.entries.isEmpty, !view.answer.isForced {
      question.reportMissing(key: key)
      return .no
    }
    return .done
  }
}
