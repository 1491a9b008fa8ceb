import LinuxFiles

/// The words of every usage error, in one place.
extension UsageError {
  /// One line, without the command's name and without a full stop.
  public var message: String {
    switch self {
    case .missingVerb:
      "a verb is missing"
    case .unknownVerb(let name, let suggestions):
      "unknown verb '\(TerminalText.escape(name))'" + Self.didYouMean(suggestions)
    case .unknownFlag(_, let flag, let suggestions):
      "unknown flag '\(TerminalText.escape(flag))'" + Self.didYouMean(suggestions)
    case .repeatedFlag(_, let flag):
      "\(flag) is given twice"
    case .missingValue(_, let flag, let placeholder):
      "\(flag) needs a value: \(flag) \(placeholder)"
    case .unexpectedValue(_, let flag):
      "\(flag) takes no value"
    case .unknownChoice(_, let flag, let value, let choices):
      "\(flag) is \(choices.joined(separator: " or ")), not '\(TerminalText.escape(value))'"
        + Self.didYouMean(Suggestion.nearest(to: value, among: choices))
    case .notANumber(_, let flag, let value):
      "\(flag) is a whole number from 0 to 18446744073709551615, not '\(TerminalText.escape(value))'"
    case .notAnInstant(_, let flag, let value, let why, let examples):
      "\(flag) '\(TerminalText.escape(value))' \(why); write " + examples.dropLast().joined(separator: ", ")
        + (examples.count > 1 ? " or " : "") + (examples.last ?? "")
    case .missingOperand(_, let name):
      "\(name) is missing"
    case .emptyOperand(_, let name):
      "\(name) is empty"
    case .extraOperand(_, let word):
      "'\(TerminalText.escape(word))' is one word too many"
    case .excludedFlags(_, let first, let second):
      "\(first) and \(second) exclude each other"
    case .neededFlag(_, let flag, let placeholder):
      "\(flag) \(placeholder) is missing"
    }
  }

  /// `; did you mean 'a' or 'b'?`, empty without suggestions.
  public static func didYouMean(_ suggestions: [String]) -> String {
    suggestions.isEmpty ? "" : "; did you mean \(suggestions.map { "'\($0)'" }.joined(separator: " or "))?"
  }
}
