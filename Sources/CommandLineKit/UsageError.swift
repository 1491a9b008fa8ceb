/// What is wrong with a command line, as data; the words stand in `UsageWording.swift`.
public enum UsageError: Error, Hashable, Sendable {
  case missingVerb
  case unknownVerb(String, suggestions: [String])
  case unknownFlag(verb: String, flag: String, suggestions: [String])
  case repeatedFlag(verb: String, flag: String)
  case missingValue(verb: String, flag: String, placeholder: String)
  case unexpectedValue(verb: String, flag: String)
  case unknownChoice(verb: String, flag: String, value: String, choices: [String])
  case notANumber(verb: String, flag: String, value: String)
  case notAnInstant(verb: String, flag: String, value: String, why: String, examples: [String])
  case missingOperand(verb: String, name: String)
  case emptyOperand(verb: String, name: String)
  case extraOperand(verb: String, word: String)
  case excludedFlags(verb: String, String, String)
  case neededFlag(verb: String, flag: String, placeholder: String)

  /// The verb whose `--help` tells more; nil (in the cases: "") for the command's own.
  public var verb: String? {
    switch self {
    case .missingVerb, .unknownVerb: nil
    case .unknownFlag(let verb, _, _), .repeatedFlag(let verb, _), .missingValue(let verb, _, _),
      .unexpectedValue(let verb, _), .unknownChoice(let verb, _, _, _), .notANumber(let verb, _, _),
      .notAnInstant(let verb, _, _, _, _), .missingOperand(let verb, _), .emptyOperand(let verb, _),
      .extraOperand(let verb, _), .excludedFlags(let verb, _, _), .neededFlag(let verb, _, _):
      verb.isEmpty ? nil : verb
    }
  }
}
