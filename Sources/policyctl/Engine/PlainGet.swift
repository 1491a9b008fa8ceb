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
    var at = 0
    var root: String?
    if words.count == 5, words[0] == "--root" {
      root = words[1]
      at = 2
    }
    guard words.count == at + 3, words[at] == "get" else { return nil }
    let (domain, key) = (words[at + 1], words[at + 2])
    guard isOperand(domain), isOperand(key), root.map(isOperand) ?? true, DomainName.fault(in: domain) == nil else {
      return nil
    }
    let loader = ForcedDomainLoader(Installation.found(root: root))
    guard let value = loader.forcedScalar(domain: domain, key: key, in: .current()) else { return nil }
    try Output.print(GetView.bare(value, onTerminal: StandardStreams.isOutputTerminal))
    return .done
  }

  private static func isOperand(_ word: String) -> Bool { !word.isEmpty && word.utf8.first != UInt8(ascii: "-") }
}
