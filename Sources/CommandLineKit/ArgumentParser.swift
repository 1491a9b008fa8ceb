/// What stood on a verb's command line, checked against its table.
public struct ParsedArguments: Sendable, Hashable {
  /// Flags with their values in the order of the command line; a switch has the value "".
  public private(set) var flags: [(name: String, value: String)] = []
  /// Operands in order.
  public private(set) var operands: [String] = []

  public init() {}

  /// Whether the switch or flag was given.
  public func has(_ flag: String) -> Bool { flags.contains { $0.name == flag } }

  /// The value of a flag that is given at most once.
  public func value(_ flag: String) -> String? { flags.last { $0.name == flag }?.value }

  /// The values of a flag that may repeat, in order.
  public func values(_ flag: String) -> [String] { flags.filter { $0.name == flag }.map(\.value) }

  /// The operand at an index, nil where an optional one was left out.
  public func operand(_ index: Int) -> String? { index < operands.count ? operands[index] : nil }

  /// The value of a flag of kind `number`; the parser has checked its form.
  public func number(_ flag: String) -> UInt64? { value(flag).flatMap { UInt64($0) } }

  mutating func add(flag: String, value: String) { flags.append((flag, value)) }
  mutating func add(operand: String) { operands.append(operand) }

  public static func == (a: Self, b: Self) -> Bool {
    a.operands == b.operands && a.flags.map(\.name) == b.flags.map(\.name)
      && a.flags.map(\.value) == b.flags.map(\.value)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(operands) }
}

/// Reads the words after a verb by its table. The rules are few:
///
/// - `--flag value`, `--flag=value`; `-o value`; a value that begins with a dash needs the `=` form;
/// - flags and operands in any order; `--` ends the flags, and where the operands are another command's line, so does the
///   first of them;
/// - nothing is guessed or abbreviated: what the table does not know is an error with a suggestion;
/// - a flag that does not repeat may be given once.
public enum ArgumentParser {
  /// - Parameters:
  ///   - words: the words after the verb.
  ///   - verb: the verb's table.
  ///   - shared: flags that every verb of the command takes (`--root`, `--help`).
  /// - Complexity: O(words × flags).
  public static func parse(_ words: [String], verb: Verb, shared: [Flag]) throws(UsageError) -> ParsedArguments {
    var parsed = ParsedArguments()
    var flagsEnded = false
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if flagsEnded || word == "-" || !word.utf8.starts(with: "-".utf8) {
        parsed.add(operand: word)
        flagsEnded = flagsEnded || verb.takesCommand
      } else if word == "--" {
        flagsEnded = true
      } else {
        try parseFlag(word, rest: words, at: &index, verb: verb, shared: shared, into: &parsed)
      }
    }
    if parsed.has("--help") { return parsed }
    try checkOperands(parsed, verb: verb)
    return parsed
  }

  private static func parseFlag(
    _ word: String, rest: [String], at index: inout Int, verb: Verb, shared: [Flag], into parsed: inout ParsedArguments
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let spelled = String(parts[0])
    let attached = parts.count == 2 ? String(parts[1]) : nil
    guard let flag = (verb.flags + shared).first(where: { $0.name == spelled || $0.short == spelled }) else {
      let known = (verb.flags + shared).map(\.name)
      throw .unknownFlag(verb: verb.name, flag: spelled, suggestions: Suggestion.nearest(to: spelled, among: known))
    }
    if parsed.has(flag.name), !flag.repeats { throw .repeatedFlag(verb: verb.name, flag: flag.name) }
    guard let placeholder = flag.placeholder else {
      if attached != nil { throw .unexpectedValue(verb: verb.name, flag: flag.name) }
      parsed.add(flag: flag.name, value: "")
      return
    }
    var value = attached
    if value == nil, index < rest.count, !rest[index].utf8.starts(with: "-".utf8) || rest[index] == "-" {
      value = rest[index]
      index += 1
    }
    guard let value, !value.isEmpty else {
      throw .missingValue(verb: verb.name, flag: flag.name, placeholder: placeholder)
    }
    switch flag.kind {
    case .choice(let choices) where !choices.contains(value):
      throw .unknownChoice(verb: verb.name, flag: flag.name, value: value, choices: choices)
    case .number where UInt64(value) == nil || !value.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }):
      throw .notANumber(verb: verb.name, flag: flag.name, value: value)
    default:
      parsed.add(flag: flag.name, value: value)
    }
  }

  private static func checkOperands(_ parsed: ParsedArguments, verb: Verb) throws(UsageError) {
    if let empty = parsed.operands.firstIndex(of: ""), empty < verb.operands.count {
      throw .emptyOperand(verb: verb.name, name: verb.operands[empty].name)
    }
    if parsed.operands.count > verb.operands.count, !verb.takesCommand {
      throw .extraOperand(verb: verb.name, word: parsed.operands[verb.operands.count])
    }
    if parsed.operands.count < verb.operands.count, verb.operands[parsed.operands.count].isRequired {
      throw .missingOperand(verb: verb.name, name: verb.operands[parsed.operands.count].name)
    }
  }
}
