import CommandLineKit
import LinuxFiles
import PropertyList

/// What `write` is to do with a key.
enum WriteOperation: Equatable {
  case set(PropertyListValue)
  /// `-array-add`
  case append([PropertyListValue])
  /// `-dict-add`
  case merge([String: PropertyListValue])
}

/// The language of values on the command line.
///
/// ```
/// value    = element | -array element … | -array-add element … | -dict (key element) … | -dict-add (key element) …
/// element  = -string WORD | -data HEX | -int WORD | -float WORD | -bool WORD | -date WORD | text
/// key      = WORD | -string WORD
/// text     = WORD, read as a property list where it begins like one: { ( < "
/// ```
/// A type binds the one word after it, whatever that is. Another word that begins with a dash is an error, not a value,
/// unless it is a negative number or stands behind `--`, after which nothing is a type: so a flag that is misspelt or in
/// the wrong place never becomes an element. Containers in containers are written as text: `'(a, (b, c))'`.
struct ValueWords {
  private let words: [String]
  private var index = 0
  private var typesEnded = false
  private let call: Invocation

  private static let types = ["-string", "-data", "-int", "-integer", "-float", "-bool", "-boolean", "-date"]
  private static let containers = ["-array", "-array-add", "-dict", "-dict-add"]

  private init(_ call: Invocation) {
    self.call = call
    words = call.valueWords
  }

  /// Reads all of the value's words.
  static func operation(_ call: Invocation) throws(CommandFailure) -> WriteOperation {
    var reader = ValueWords(call)
    let operation = try reader.operation()
    if let extra = reader.next() {
      if !reader.typesEnded, let flag = Flags.everywhere.first(where: { $0.name == extra }) {
        throw call.usage("\(flag.name) is one word too many behind a value; it stands before the verb")
      }
      throw call.usage(.extraOperand(verb: call.verb.name, word: extra))
    }
    return operation
  }

  /// Whether a word says of what type the next ones are.
  static func isType(_ word: String) -> Bool { types.contains(word) || containers.contains(word) }

  private mutating func operation() throws(CommandFailure) -> WriteOperation {
    guard let first = words.first else { throw call.usage(.missingOperand(verb: call.verb.name, name: "VALUE")) }
    switch first {
    case "-array", "-array-add":
      index = 1
      let elements = try elements()
      return first == "-array" ? .set(.array(elements)) : .append(elements)
    case "-dict", "-dict-add":
      index = 1
      let members = try members()
      return first == "-dict" ? .set(.dictionary(members)) : .merge(members)
    default:
      guard let value = try element() else {
        throw call.usage(.missingOperand(verb: call.verb.name, name: "VALUE"))
      }
      return .set(value)
    }
  }

  /// The next word; `--` is stepped over once.
  private mutating func next() -> String? {
    if index < words.count, !typesEnded, words[index] == "--" {
      typesEnded = true
      index += 1
    }
    guard index < words.count else { return nil }
    defer { index += 1 }
    return words[index]
  }

  private mutating func elements() throws(CommandFailure) -> [PropertyListValue] {
    var elements: [PropertyListValue] = []
    while let element = try element() { elements.append(element) }
    return elements
  }

  private mutating func members() throws(CommandFailure) -> [String: PropertyListValue] {
    var members: [String: PropertyListValue] = [:]
    while let key = try key() {
      guard let value = try element() else { throw call.usage("the key '\(TerminalText.escape(key))' has no value") }
      guard members.updateValue(value, forKey: key) == nil else {
        throw call.usage("the key '\(TerminalText.escape(key))' stands twice")
      }
    }
    return members
  }

  private mutating func key() throws(CommandFailure) -> String? {
    guard var word = next() else { return nil }
    if !typesEnded, word.hasPrefix("-") {
      guard word == "-string" else { throw unknownType(word, place: "a key") }
      word = try argument(of: word)
    }
    return word
  }

  /// One value that is no container; nil at the end.
  private mutating func element() throws(CommandFailure) -> PropertyListValue? {
    guard let word = next() else { return nil }
    guard !typesEnded, word.hasPrefix("-"), word != "-", !Self.isNumber(word) else { return try text(word) }
    guard Self.types.contains(word) else { throw unknownType(word, place: "a value") }
    let argument = try argument(of: word)
    do throws(ValueFault) {
      return try ValueText.value(argument, type: word)
    } catch {
      throw call.usage("\(word) \(error.expectation), not '\(TerminalText.escape(argument))'; nothing was written")
    }
  }

  /// The word that a type binds.
  private mutating func argument(of type: String) throws(CommandFailure) -> String {
    guard index < words.count else {
      throw call.usage(.missingValue(verb: call.verb.name, flag: type, placeholder: "VALUE"))
    }
    defer { index += 1 }
    return words[index]
  }

  private func text(_ word: String) throws(CommandFailure) -> PropertyListValue {
    do throws(PropertyListError) {
      return try ValueText.text(word)
    } catch {
      // What it begins with made it one; a `{` or `(` may also be the first of several words that were meant to be one.
      let sign = word.first { !$0.isWhitespace }.map { String($0) } ?? ""
      let isOpening = sign == "{" || sign == "("
      throw call.usage(
        "a value that begins with \(sign) is read as a property list, and this is none: "
          + TerminalText.escape("\(error)") + (isOpening ? "; quote it for the shell, or" : ";")
          + " write a string with -string",
        next: words.count == 1 ? [call.again(withValue: ["-string", word])] : [])
    }
  }

  private func unknownType(_ word: String, place: String) -> CommandFailure {
    let shown = TerminalText.escape(word)
    if Self.containers.contains(word) {
      return call.usage(
        "\(shown) can't stand within a container; write one inside as text: '(a, b)' or '{key = value;}'")
    }
    if Self.types.contains(word) { return call.usage("\(shown) can't stand where \(place) is expected") }
    if Flags.everywhere.contains(where: { $0.name == word }) {
      return call.usage("\(shown) can't stand where \(place) is expected; it stands before the verb")
    }
    let known = Self.types + (index == 1 ? Self.containers : [])
    return call.usage(
      "'\(shown)' is no type of value" + UsageError.didYouMean(Suggestion.nearest(to: word, among: known))
        + " (-- before \(place) that begins with a dash)")
  }

  /// `-5` and `-.5` are values.
  private static func isNumber(_ word: String) -> Bool {
    let second = word.utf8.dropFirst().first ?? 0
    return 0x30...0x39 ~= second || second == UInt8(ascii: ".")
  }
}
