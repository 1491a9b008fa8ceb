import CommandLineKit
import LinuxFiles

/// `get DOMAIN [KEY]`: what an application reads.
enum GetVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "get", summary: "Print the value of a key, or all of a domain, as applications read them.",
      operands: [Operand("DOMAIN", .domain), Operand("KEY", .key, optional: true)],
      flags: CommonFlags.context + [CommonFlags.format],
      notes: ["A key without a value exits with 1. Strings are printed bare; json tells the type."],
      example: "policyctl get org.example.Editor AutoSaveInterval")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let domain = call.arguments.operands[0]
    let question = try Question(call, domain: domain)
    if let key = call.arguments.operand(1) {
      let answer = question.answer(key)
      question.reportFaultsAndLimits()
      if call.wantsJSON {
        try Output.print(
          GetView(domain: domain, answers: answer.value == nil && !answer.isForced ? [] : [answer]).json())
      } else if answer.value != nil {
        try Output.print(GetView.bare(answer, onTerminal: StandardStreams.isOutputTerminal))
      }
      if let lock = question.lock { throw lock }
      if answer.value == nil {
        question.reportMissing(key: key)
        return .no
      }
      return .done
    }
    let view = GetView(domain: domain, answers: question.answers())
    question.reportFaultsAndLimits()
    if call.wantsJSON {
      try Output.print(view.json())
    } else {
      try Output.print(view.table(Terminal.palette(for: .output)))
    }
    if let lock = question.lock { throw lock }
    if view.answers.isEmpty {
      question.reportMissing(key: nil)
      return .no
    }
    return .done
  }
}
