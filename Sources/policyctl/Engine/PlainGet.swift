import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore

/// `get DOMAIN KEY` without a flag but `--root`, where a forced scalar answers and nothing else is to be said.
///
/// Scripts ask in loops, and a launch costs what it touches for the first time. So this makes none of the tables of verbs,
/// flags and layers, and asks the loader and the law for one key alone. It decides nothing of its own: whatever is not
/// plain, faults above all, is left to the verb, which asks again.
enum PlainGet {
  /// - Returns: nil where the verb has to answer.
  static func run(_ words: [String]) throws(CommandFailure) -> ExitCode? {
    guard let question = PlainQuestion(words, verb: "get"), DomainName.fault(in: question.domain) == nil,
      let value = ForcedDomainLoader(Installation.found(root: question.root)).forcedScalar(
        domain: question.domain, key: question.key, in: .current())
    else { return nil }
    try Output.print(GetView.bare(value, onTerminal: StandardStreams.isOutputTerminal))
    return .done
  }
}
