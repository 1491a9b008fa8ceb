/// Why a property list could not be read or written, and where.
///
/// The words for people are `description`; programs look at `reason` and `position`.
public struct PropertyListError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let reason: Reason
  /// Where it is wrong.
  public let position: Position

  /// An error about this, there.
  public init(_ reason: Reason, at position: Position) {
    self.reason = reason
    self.position = position
  }

  /// Where the fault is.
  public enum Position: Hashable, Sendable {
    /// A byte of a binary property list, counted from 0.
    case offset(Int)
    /// A place in a text, both counted from 1; columns count Unicode scalars.
    case line(Int, column: Int)
    /// A place in a value that was to be written: `""` is the root, `.key` and `[3]` lead inwards.
    case path(String)
  }

  /// What is wrong. Each case has one sentence in `description`.
  public enum Reason: Hashable, Sendable {
    /// There is no value at all.
    case empty
    /// The input has more bytes than `DecodingLimits.maximumBytes`.
    case inputTooLarge(limit: Int)
    /// Containers nest deeper than `DecodingLimits.maximumDepth`.
    case tooDeep(limit: Int)
    /// There are more values and keys than `DecodingLimits.maximumObjects`, shared ones counted each time.
    case tooManyObjects(limit: Int)
    /// Strings and data hold more bytes than `DecodingLimits.maximumExpandedBytes`, shared ones counted each time.
    case expansionTooLarge(limit: Int)
    /// A container of a binary file contains itself.
    case cycle
    /// The input ends inside what is named.
    case unexpectedEnd(in: String)
    /// Something stands where something else must stand.
    case unexpected(String, expected: String)
    /// The bytes are not text in the encoding that is named.
    case invalidEncoding(String)
    /// A dictionary has this key twice (in the sense of canonical equivalence, as Swift compares strings).
    case duplicateKey(String)
    /// A key has more combining marks in a row than can be compared in reasonable time.
    case tooManyMarks(limit: Int)
    /// A dictionary of a binary file has a key that is not a string.
    case keyNotString
    case invalidInteger(String)
    /// An integer outside −2⁶³ … 2⁶⁴−1.
    case integerOutOfRange(String)
    case invalidReal(String)
    /// A date that is malformed, or outside the years 0000 … 9999.
    case invalidDate(String)
    case invalidData
    /// `null`: property lists have none.
    case null
    /// A structural fault of a binary file: magic, trailer, offset, reference or marker.
    case corrupt(String)
    /// Text that is not well-formed XML, in expat's words.
    case notWellFormed(String)
    /// A document type declaration with declarations of its own (entities are the usual ones).
    case internalSubset
    /// The format has no form for this value.
    case unrepresentable(String, format: PropertyListFormat)
  }

  /// One line: the place and one sentence, without the file's name, which the caller knows.
  public var description: String {
    let place =
      switch position {
      case .offset(let offset): "byte \(offset): "
      case .line(let line, let column): "\(line):\(column): "
      case .path(let path): path.isEmpty ? "" : "\(path): "
      }
    return place + reason.description
  }
}

extension PropertyListError.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "there is no value"
    case .inputTooLarge(let limit): "the whole has more than \(limit) bytes"
    case .tooDeep(let limit): "containers nest deeper than \(limit) levels"
    case .tooManyObjects(let limit): "there are more than \(limit) values"
    case .expansionTooLarge(let limit): "strings and data have more than \(limit) bytes"
    case .cycle: "a container contains itself"
    case .unexpectedEnd(let what): "the input ends inside \(what)"
    case .unexpected(let found, let expected): "\(found) where \(expected) must stand"
    case .invalidEncoding(let encoding): "this is not \(encoding) text"
    case .duplicateKey(let key): "the key \(DisplayText.quotedExcerpt(key)) stands twice in one dictionary"
    case .tooManyMarks(let limit): "a key has more than \(limit) combining marks in a row"
    case .keyNotString: "a dictionary key is not a string"
    case .invalidInteger(let text): "\(DisplayText.quotedExcerpt(text)) is not an integer"
    case .integerOutOfRange(let text): "the integer \(DisplayText.excerpt(text)) is outside -2^63 ... 2^64-1"
    case .invalidReal(let text): "\(DisplayText.quotedExcerpt(text)) is not a real number"
    case .invalidDate(let text): "\(DisplayText.quotedExcerpt(text)) is not a date of the years 0000 to 9999"
    case .invalidData: "this is not data: its digits or its padding are wrong"
    case .null: "null is not a property-list value"
    case .corrupt(let what): what
    case .notWellFormed(let words): "this is not well-formed XML: \(words)"
    case .internalSubset: "a property list must not declare entities or other markup"
    case .unrepresentable(let what, let format): "\(format) cannot hold \(what)"
    }
  }
}
