/// Raw file bytes to UTF-8 with LF: the one place that knows encodings and line ends.
///
/// libyaml could read UTF-16 and CRLF by itself, but then columns, byte offsets and the digest would depend on how an
/// editor saved the file.
enum SourceNormalization {
  struct NormalText {
    var bytes: [UInt8]
    var isASCII: Bool
    var hasForeignLineEnds = false
  }

  struct Fault: Error {
    var code: DiagnosticCode
    var message: String
    var position: SourcePosition
  }

  /// - Complexity: O(bytes); plain ASCII with LF is returned without a copy.
  static func normalize(_ raw: [UInt8]) throws(Fault) -> NormalText {
    if raw.starts(with: [0xFF, 0xFE]) { return try finish(utf8(fromUTF16: raw, littleEndian: true)) }
    if raw.starts(with: [0xFE, 0xFF]) { return try finish(utf8(fromUTF16: raw, littleEndian: false)) }
    let marked = raw.starts(with: [0xEF, 0xBB, 0xBF])
    let traits = Traits(of: raw)
    if !traits.hasHighBytes && !traits.hasReturns && !traits.hasZeros { return NormalText(bytes: raw, isASCII: true) }
    try validate(raw, from: marked ? 3 : 0)
    return finish(marked ? Array(raw.dropFirst(3)) : raw)
  }

  private static func finish(_ bytes: [UInt8]) -> NormalText {
    let traits = Traits(of: bytes)
    let lines = traits.hasReturns ? withLineFeeds(bytes) : bytes
    guard traits.hasHighBytes else { return NormalText(bytes: lines, isASCII: true) }
    return NormalText(bytes: lines, isASCII: false, hasForeignLineEnds: holdsForeignLineEnds(lines))
  }

  private struct Traits {
    var hasHighBytes = false
    var hasReturns = false
    var hasZeros = false

    init(of bytes: [UInt8]) {
      bytes.withUnsafeBytes { buffer in
        var high: UInt64 = 0
        var index = 0
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        var zeros: UInt64 = 0
        var returns: UInt64 = 0
        while index + 8 <= buffer.count {
          let word = buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          high |= word & tops
          zeros |= (word &- ones) & ~word & tops
          let flipped = word ^ (ones &* 0x0D)
          returns |= (flipped &- ones) & ~flipped & tops
          index += 8
        }
        while index < buffer.count {
          let byte = buffer[index]
          if byte >= 0x80 { high = 1 }
          if byte == 0 { zeros = 1 }
          if byte == 0x0D { returns = 1 }
          index += 1
        }
        (hasHighBytes, hasReturns, hasZeros) = (high != 0, returns != 0, zeros != 0)
      }
    }
  }

  private static func withLineFeeds(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var afterReturn = false
    for byte in bytes {
      if byte == 0x0D {
        result.append(0x0A)
      } else if byte != 0x0A || !afterReturn {
        result.append(byte)
      }
      afterReturn = byte == 0x0D
    }
    return result
  }

  private static func holdsForeignLineEnds(_ bytes: [UInt8]) -> Bool {
    for index in bytes.indices.dropLast() {
      if bytes[index] == 0xC2 && bytes[index + 1] == 0x85 { return true }
      if bytes[index] == 0xE2 && bytes[index + 1] == 0x80 && index + 2 < bytes.count
        && (bytes[index + 2] == 0xA8 || bytes[index + 2] == 0xA9)
      {
        return true
      }
    }
    return false
  }

  private static func validate(_ bytes: [UInt8], from start: Int) throws(Fault) {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0 { throw fault(.nulByte, "byte \(index) is NUL, which no text holds", bytes, start, index) }
      let length = sequenceLength(bytes, at: index)
      guard length > 0 else {
        throw fault(.invalidUTF8, "byte \(index) is not valid UTF-8", bytes, start, index)
      }
      index += length
    }
  }

  private static func fault(
    _ code: DiagnosticCode, _ message: String, _ bytes: [UInt8], _ start: Int, _ index: Int
  ) -> Fault {
    let before = withLineFeeds(Array(bytes[start..<index]))
    let text = SourceText(path: "", relativePath: "", normal: NormalText(bytes: before, isASCII: false))
    return Fault(code: code, message: message, position: text.position(ofByte: before.count))
  }

  /// The length of the well-formed sequence at an index (Unicode, table 3-7), 0 where there is none.
  private static func sequenceLength(_ bytes: [UInt8], at index: Int) -> Int {
    func follows(_ distance: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
      index + distance < bytes.count && range.contains(bytes[index + distance])
    }
    switch bytes[index] {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: return follows(1) ? 2 : 0
    case 0xE0: return follows(1, 0xA0...0xBF) && follows(2) ? 3 : 0
    case 0xED: return follows(1, 0x80...0x9F) && follows(2) ? 3 : 0
    case 0xE1...0xEF: return follows(1) && follows(2) ? 3 : 0
    case 0xF0: return follows(1, 0x90...0xBF) && follows(2) && follows(3) ? 4 : 0
    case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : 0
    case 0xF4: return follows(1, 0x80...0x8F) && follows(2) && follows(3) ? 4 : 0
    default: return 0
    }
  }

  private static func utf8(fromUTF16 raw: [UInt8], littleEndian: Bool) throws(Fault) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(raw.count)
    func unit(_ index: Int) -> UInt16 {
      littleEndian
        ? UInt16(raw[index]) | UInt16(raw[index + 1]) << 8 : UInt16(raw[index]) << 8 | UInt16(raw[index + 1])
    }
    var index = 2
    while index < raw.count {
      guard index + 1 < raw.count else {
        throw fault(.invalidUTF16, "byte \(index) is half of a UTF-16 code unit", result, 0, result.count)
      }
      let first = unit(index)
      if first == 0 { throw fault(.nulByte, "byte \(index) is NUL, which no text holds", result, 0, result.count) }
      var scalar = UInt32(first)
      if UTF16.isLeadSurrogate(first), index + 3 < raw.count, UTF16.isTrailSurrogate(unit(index + 2)) {
        scalar = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(unit(index + 2)) - 0xDC00)
        index += 2
      }
      guard let valid = Unicode.Scalar(scalar) else {
        throw fault(.invalidUTF16, "byte \(index) is a UTF-16 surrogate without its pair", result, 0, result.count)
      }
      result.append(contentsOf: UTF8.encode(valid)!)
      index += 2
    }
    return result
  }
}
