import CommandLineKit
import ForcedDomain
import LinuxFiles
import PropertyList

/// One call of a verb: its words, read by its table.
struct Invocation {
  let verb: Verb
  /// The words as they were typed after the verb, for messages that repeat the command.
  let words: [String]
  let arguments: ParsedArguments

  var root: String? { arguments.value("--root") }
  /// The installation that the command is about.
  func installation() -> Installation { Installation.found(root: root) }

  var wantsJSON: Bool { arguments.value("--format") == "json" }

  /// The same command line, to be typed again.
  ///
  /// - Parameters:
  ///   - privileged: whether `sudo` stands before it.
  ///   - extra: words to add at its end.
  func again(privileged: Bool = false, adding extra: String...) -> String {
    again(privileged: privileged, words: wordsWithoutRoot + extra)
  }

  /// The same command line with another word in the place of one.
  func again(replacing old: String, with new: String) -> String {
    let words = wordsWithoutRoot.map { word in
      if word == old { return new }
      // `--flag=VALUE`
      guard let equals = word.firstRange(ofBytes: "="), word.hasPrefix("--"), word[equals.upperBound...] == old[...]
      else { return word }
      return word[..<equals.upperBound] + new
    }
    return again(privileged: false, words: words)
  }

  private func again(privileged: Bool, words: [String]) -> String {
    ShellWord.join(
      (privileged ? ["sudo"] : []) + [Policyctl.name] + (root.map { ["--root", $0] } ?? []) + verb.path + words)
  }

  /// The root stands first in every command that is printed, wherever it was typed.
  var wordsWithoutRoot: [String] {
    var kept: [String] = []
    var isValueOfRoot = false
    for word in words {
      if isValueOfRoot {
        isValueOfRoot = false
      } else if word == "--root" {
        isValueOfRoot = true
      } else if !word.utf8.starts(with: "--root=".utf8) {
        kept.append(word)
      }
    }
    return kept
  }

  /// Another command on the same root.
  func command(privileged: Bool = false, _ words: String...) -> String { command(privileged: privileged, words) }

  func command(privileged: Bool = false, _ words: [String]) -> String {
    ShellWord.join(
      (privileged && root == nil ? ["sudo"] : []) + [Policyctl.name] + (root.map { ["--root", $0] } ?? []) + words)
  }

  /// A usage error of this verb.
  func usage(_ error: UsageError) -> CommandFailure { CommandFailure(error, command: Policyctl.name) }
}

extension Output {
  /// One JSON document, with a final new line.
  static func print(_ json: JSONWriter) throws(CommandFailure) { try print(json.bytes + [UInt8(ascii: "\n")]) }
}
