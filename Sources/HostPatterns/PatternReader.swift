/// The syntax of host patterns: text to tokens.
enum PatternReader {
  /// Full host names have at most 253 characters; a range in brackets takes a little more room.
  static let maximumLength = 512
  static let maximumWidth = 18

  static func tokens(of pattern: String) throws(HostPatternError) -> [HostPattern.Token] {
    let characters = Array(pattern)
    guard !characters.isEmpty else { throw HostPatternError(.empty, at: 0) }
    guard characters.count <= maximumLength else { throw HostPatternError(.tooLong, at: maximumLength) }
    var tokens: [HostPattern.Token] = []
    var index = 0
    while index < characters.count {
      let character = characters[index]
      switch character {
      case "*":
        // A run of stars means what one does; one keeps matching linear.
        if tokens.last != .anything { tokens.append(.anything) }
        index += 1
      case "?":
        tokens.append(.anyByte)
        index += 1
      case "[":
        tokens.append(try range(in: characters, at: &index))
      case "]":
        throw HostPatternError(.closingBracketAlone, at: index)
      default:
        guard let byte = character.asciiValue, isNameByte(byte) else {
          throw HostPatternError(.unexpectedCharacter(character), at: index)
        }
        tokens.append(.byte(lowered(byte)))
        index += 1
      }
    }
    return tokens
  }

  private static func range(
    in characters: [Character], at index: inout Int
  ) throws(HostPatternError) -> HostPattern.Token {
    let open = index
    guard let close = characters[open...].firstIndex(of: "]") else {
      throw HostPatternError(.unclosedBracket, at: open)
    }
    index = close + 1
    let ends = characters[(open + 1)..<close].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }) else {
      throw HostPatternError(.notARange, at: open)
    }
    let low = String(ends[0])
    let high = String(ends[1])
    guard low.count == high.count else { throw HostPatternError(.unequalWidth(low: low, high: high), at: open) }
    guard low.count <= maximumWidth, let first = UInt64(low), let last = UInt64(high) else {
      throw HostPatternError(.rangeTooWide, at: open)
    }
    guard first <= last else { throw HostPatternError(.descendingRange(low: low, high: high), at: open) }
    return .number(low: first, high: last, width: low.count)
  }

  private static func isDigit(_ character: Character) -> Bool {
    guard let byte = character.asciiValue else { return false }
    return isDigit(byte)
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  static func lowered(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    let lower = lowered(byte)
    return (lower >= 0x61 && lower <= 0x7A) || isDigit(byte)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
  }
}
