/// From the bytes of a text file to UTF-8, whatever Unicode encoding it has, and from a byte back to line and column.
enum TextEncoding {
  /// The text in UTF-8, without a byte-order mark.
  ///
  /// The encoding is stated by a byte-order mark or, without one, by the zeros that the first character of every
  /// property list leaves in UTF-16 and UTF-32 (XML 1.0, appendix F). Anything else is UTF-8.
  /// - Parameter validating: Whether UTF-8 is checked here; expat checks it itself, and reads other encodings too.
  /// - Returns: The bytes, and whether they were another encoding before.
  static func utf8(
    _ bytes: [UInt8], validating: Bool
  ) throws(PropertyListError) -> (bytes: [UInt8], transcoded: Bool) {
    let (encoding, mark) = detect(bytes)
    switch encoding {
    case .utf8:
      let text = mark == 0 ? bytes : Array(bytes.dropFirst(mark))
      if validating, let offset = firstInvalidUTF8(text) {
        throw PropertyListError(.invalidEncoding("UTF-8"), at: position(of: offset, in: text))
      }
      return (text, mark > 0)
    case .utf16(let bigEndian):
      guard let text = transcode(bytes.dropFirst(mark), unit: 2, bigEndian: bigEndian) else {
        throw PropertyListError(.invalidEncoding("UTF-16"), at: .line(1, column: 1))
      }
      return (text, true)
    case .utf32(let bigEndian):
      guard let text = transcode(bytes.dropFirst(mark), unit: 4, bigEndian: bigEndian) else {
        throw PropertyListError(.invalidEncoding("UTF-32"), at: .line(1, column: 1))
      }
      return (text, true)
    }
  }

  enum Encoding: Equatable {
    case utf8
    case utf16(bigEndian: Bool)
    case utf32(bigEndian: Bool)
  }

  /// The encoding, and the length of the byte-order mark.
  static func detect(_ bytes: [UInt8]) -> (Encoding, mark: Int) {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
    if bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return (.utf32(bigEndian: true), 4) }
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) { return (.utf32(bigEndian: false), 4) }
    if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16(bigEndian: true), 2) }
    if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16(bigEndian: false), 2) }
    guard bytes.count >= 4 else { return (.utf8, 0) }
    return switch (bytes[0] == 0, bytes[1] == 0, bytes[2] == 0, bytes[3] == 0) {
    case (true, true, true, false): (.utf32(bigEndian: true), 0)
    case (false, true, true, true): (.utf32(bigEndian: false), 0)
    case (true, false, true, false): (.utf16(bigEndian: true), 0)
    case (false, true, false, true): (.utf16(bigEndian: false), 0)
    default: (.utf8, 0)
    }
  }

  private static func transcode(_ bytes: ArraySlice<UInt8>, unit: Int, bigEndian: Bool) -> [UInt8]? {
    guard bytes.count.isMultiple(of: unit) else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var pendingHigh: UInt32?
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: unit) {
      var value: UInt32 = 0
      for index in 0..<unit { value = value << 8 | UInt32(bytes[start + (bigEndian ? index : unit - 1 - index)]) }
      if unit == 2 {
        switch (pendingHigh, value) {
        case (nil, 0xD800..<0xDC00):
          pendingHigh = value
          continue
        case (let high?, 0xDC00..<0xE000):
          value = 0x10000 + (high - 0xD800) << 10 + (value - 0xDC00)
          pendingHigh = nil
        case (nil, _): break
        default: return nil
        }
      }
      guard let scalar = Unicode.Scalar(value) else { return nil }
      result.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
    }
    return pendingHigh == nil ? result : nil
  }

  /// The text of big-endian UTF-16, nil when surrogates are not paired.
  static func utf16BigEndian(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    transcode(ArraySlice(bytes), unit: 2, bigEndian: true).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Where UTF-8 first goes wrong, nil when nowhere. (Unicode 16, table 3-7.)
  static func firstInvalidUTF8(_ bytes: [UInt8]) -> Int? {
    bytes.withUnsafeBufferPointer { bytes in
      var index = 0
      while index < bytes.count {
        let lead = bytes[index]
        if lead < 0x80 {
          index += 1
          continue
        }
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return index
        }
        guard index + length <= bytes.count, second.contains(bytes[index + 1]) else { return index }
        for next in (index + 2)..<max(index + 2, index + length) where bytes[next] & 0xC0 != 0x80 { return index }
        index += length
      }
      return nil
    }
  }

  /// Line and column of a byte, both from 1; LF, CR and CRLF end lines, columns count Unicode scalars.
  static func position(of offset: Int, in bytes: some Collection<UInt8>) -> PropertyListError.Position {
    var line = 1
    var column = 1
    var afterCarriageReturn = false
    for byte in bytes.prefix(offset) {
      switch byte {
      case 0x0A where afterCarriageReturn: afterCarriageReturn = false
      case 0x0A, 0x0D:
        line += 1
        column = 1
        afterCarriageReturn = byte == 0x0D
      default:
        if byte & 0xC0 != 0x80 { column += 1 }
        afterCarriageReturn = false
      }
    }
    return .line(line, column: column)
  }
}
