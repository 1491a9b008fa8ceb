import CommandLineKit
import ForcedDomain
import PreferencesCore

/// `read DOMAIN KEY` without a flag but `--root`, where a forced scalar answers and nothing else is to be said: the short way
/// of `policyctl get`. It decides nothing of its own; whatever is not plain is left to the verb, which asks again.
enum PlainRead {
  /// - Returns: nil where the verb has to answer.
  static func run(_ words: [String]) throws(CommandFailure) -> ExitCode? {
    guard let question = PlainQuestion(words, verb: "read"), DomainName.fault(in: question.domain) == nil,
      let value = ForcedDomainLoader(Installation.found(root: question.root)).forcedScalar(
        domain: question.domain, key: question.key, in: .current())
    else { return nil }
    try Output.print(ValueView.text(value))
    return .done
  }
}
