import PropertyList

extension AuditEvent {
  /// The event as one line of JSON, its line end included: `kind`, `time`, `claim`, `fields`.
  ///
  /// Text comes from anywhere (keys, paths, executables), so nothing in it can begin a line, move a terminal's cursor or
  /// turn the direction of writing: control and format characters stand as `\u` escapes.
  public func jsonLine() -> [UInt8] { jsonLine(of: nil) }

  /// The line in a spool, where `origin` stands behind `kind`.
  func jsonLine(of origin: SpoolOrigin?) -> [UInt8] {
    var json = JSONWriter(pretty: false)
    json.beginObject()
    json.key("kind")
    json.string(kind.rawValue)
    if let origin {
      json.key("origin")
      json.string(origin.text)
    }
    json.key("time")
    json.string(time.rfc3339)
    json.key("claim")
    json.beginObject()
    json.key("pid")
    json.integer(Int(claim.processID))
    json.key("uid")
    json.integer(Int(claim.userID))
    // Left out where it is not known: what reads it back has no null.
    if let executable = claim.executable {
      json.key("executable")
      json.string(executable)
    }
    json.endObject()
    json.key("fields")
    json.value(.dictionary(fields))
    json.endObject()
    return Self.escapingFormatCharacters(json.bytes) + [UInt8(ascii: "\n")]
  }

  /// Outside its strings JSON is plain ASCII, so whatever is found here stands inside one.
  static func escapingFormatCharacters(_ bytes: [UInt8]) -> [UInt8] {
    // Nearly every event is plain ASCII; what is below a space the JSON writer has escaped already.
    if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return bytes }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 16)
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          result += Array("\\u".utf8) + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.utf8.count)
          result += Array(digits.utf8)
        }
      default: result += Array(String(scalar).utf8)
      }
    }
    return result
  }
}
