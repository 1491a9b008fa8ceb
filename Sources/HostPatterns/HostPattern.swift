/// Which machines an item of a policy means: a literal name, a glob, or a range of equal width.
///
/// Rule 7 of the policy language: `*` (any characters), `?` (exactly one) and `[01-30]` (numbers of equal width, padding
/// kept) are the whole syntax. Compared without case (ASCII), anchored at both ends. A pattern without a dot is held
/// against a host's short name, one with a dot against its full name; in a full name `*` may cross dots. All other
/// characters of a host name (`-`, `_`, `.`, letters, digits) stand for themselves; anything else is refused, since a
/// pattern that silently matches nothing would leave machines unmanaged.
///
/// This is the only place in the engine that reads or matches a host pattern.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
  /// What kind of item this is; the rank of rule 1 puts a literal name above ranges and globs.
  public enum Kind: UInt8, Sendable, Hashable {
    case literal, glob, range
  }

  /// The canonical spelling: as written, in lower case.
  public let text: String

  /// `glob` when a `*` or `?` occurs, else `range` when brackets occur, else `literal`.
  public let kind: Kind

  /// Held against full names (true) or against short names (false).
  public let hasDot: Bool

  let tokens: [Token]

  /// One element of a pattern: exactly one character, except `anything` and a number of `width` digits.
  enum Token: Sendable, Hashable {
    case byte(UInt8)
    case anyByte
    case anything
    case number(low: UInt64, high: UInt64, width: Int)
  }

  /// Reads a pattern.
  ///
  /// - Throws: ``HostPatternError`` with the character at which the pattern stops making sense.
  public init(parsing pattern: String) throws(HostPatternError) {
    tokens = try PatternReader.tokens(of: pattern)
    text = pattern.asciiLowercased
    hasDot = tokens.contains(.byte(UInt8(ascii: ".")))
    var kind = Kind.literal
    for token in tokens {
      switch token {
      case .anyByte, .anything: kind = .glob
      case .number where kind == .literal: kind = .range
      default: break
      }
    }
    self.kind = kind
  }

  public var description: String { text }

  public static func == (a: HostPattern, b: HostPattern) -> Bool { a.text == b.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// Every name this pattern stands for, in ascending order, or nil when it is a glob or stands for more than `limit`.
  ///
  /// - Complexity: O(names × length).
  public func expandedNames(limit: Int) -> [String]? {
    var names: [[UInt8]] = [[]]
    for token in tokens {
      switch token {
      case .byte(let byte):
        for index in names.indices { names[index].append(byte) }
      case .anyByte, .anything:
        return nil
      case .number(let low, let high, let width):
        let count = high - low + 1
        guard count <= UInt64(max(0, limit)), names.count * Int(count) <= limit else { return nil }
        var longer: [[UInt8]] = []
        longer.reserveCapacity(names.count * Int(count))
        for name in names {
          for number in low...high {
            let digits = Array(String(number).utf8)
            longer.append(
              name + [UInt8](repeating: UInt8(ascii: "0"), count: max(0, width - digits.count)) + digits)
          }
        }
        names = longer
      }
    }
    guard names.count <= limit else { return nil }
    return names.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Why a text is no host pattern, and at which character.
public struct HostPatternError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    case empty
    case tooLong
    /// A character that no host name has and the syntax does not know.
    case unexpectedCharacter(Character)
    case unclosedBracket
    case closingBracketAlone
    /// Brackets that hold something else than `number-number`.
    case notARange
    case unequalWidth(low: String, high: String)
    case descendingRange(low: String, high: String)
    case rangeTooWide
  }

  public let reason: Reason

  /// Characters from the start of the pattern, counted from 0.
  public let offset: Int

  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  public var description: String {
    switch reason {
    case .empty: "a host pattern can't be empty"
    case .tooLong: "a host pattern can't be longer than \(PatternReader.maximumLength) characters"
    case .unexpectedCharacter(let character):
      "'\(character)' can't stand in a host pattern; it knows names, '*', '?' and ranges such as [01-30]"
    case .unclosedBracket: "'[' is never closed"
    case .closingBracketAlone: "']' without '['"
    case .notARange: "brackets hold a range of numbers, such as [01-30]"
    case .unequalWidth(let low, let high):
      "both ends of a range need the same number of digits: \(low) and \(high) differ"
    case .descendingRange(let low, let high): "the range starts at \(low), above its end \(high)"
    case .rangeTooWide: "a range can't have more than \(PatternReader.maximumWidth) digits"
    }
  }
}

extension String {
  /// The text with A–Z lowered and everything else untouched, in every locale.
  var asciiLowercased: String {
    String(decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
