extension HostPattern {
  /// Whether the host of this name, short or full as it was enrolled, is meant.
  ///
  /// A pattern without a dot sees the part before the first dot, one with a dot sees the whole name.
  ///
  /// - Complexity: O(length of the name × length of the pattern) at worst, linear without `*`.
  public func matches(hostName: String) -> Bool {
    var hostName = hostName
    return hostName.withUTF8 { full in
      if hasDot { return Self.matches(tokens[...], full[...]) }
      let end = full.firstIndex(of: UInt8(ascii: ".")) ?? full.endIndex
      return Self.matches(tokens[...], full[..<end])
    }
  }

  // Every token but `anything` takes a fixed number of bytes, so going back to the last star alone finds every match.
  private static func matches(_ tokens: ArraySlice<Token>, _ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    var token = tokens.startIndex
    var byte = name.startIndex
    var afterStar: (token: Int, byte: Int)?
    while true {
      if token < tokens.endIndex {
        if tokens[token] == .anything {
          token += 1
          afterStar = (token, byte)
          continue
        }
        if let next = step(tokens[token], name, byte) {
          token += 1
          byte = next
          continue
        }
      } else if byte == name.endIndex {
        return true
      }
      guard let back = afterStar, back.byte < name.endIndex else { return false }
      afterStar = (back.token, back.byte + 1)
      token = back.token
      byte = back.byte + 1
    }
  }

  private static func step(_ token: Token, _ name: Slice<UnsafeBufferPointer<UInt8>>, _ at: Int) -> Int? {
    switch token {
    case .byte(let expected):
      return at < name.endIndex && PatternReader.lowered(name[at]) == expected ? at + 1 : nil
    case .anyByte:
      return at < name.endIndex ? at + 1 : nil
    case .number(let low, let high, let width):
      guard name.endIndex - at >= width else { return nil }
      var number: UInt64 = 0
      for index in at..<(at + width) {
        guard PatternReader.isDigit(name[index]) else { return nil }
        number = number * 10 + UInt64(name[index] - 0x30)
      }
      return number >= low && number <= high ? at + width : nil
    case .anything:
      return nil
    }
  }
}
