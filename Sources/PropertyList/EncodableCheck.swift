/// The question that is asked before anything is written: can this format hold this value, and would we read it back?
///
/// It stands apart from the encoders so that they cannot fail, and so that an error names the path to its cause.
struct EncodableCheck {
  let format: PropertyListFormat
  private var budget = DecodingBudget(.default)

  init(format: PropertyListFormat) { self.format = format }

  mutating func check(_ root: PropertyListValue) throws(PropertyListError) {
    if let (what, path) = fault(root, depth: 0) {
      throw PropertyListError(what, at: .path(path))
    }
  }

  /// The first fault, with the path to it, built on the way out so that faultless values cost nothing.
  private mutating func fault(_ value: PropertyListValue, depth: Int) -> (PropertyListError.Reason, String)? {
    if let reason = budget.object() { return (reason, "") }
    switch value {
    case .string(let text):
      if let reason = budget.content(text.utf8.count) { return (reason, "") }
      if format == .xml, let character = Self.characterForbiddenInXML(text) {
        return (unrepresentable("the character U+\(hexadecimal(character.value, width: 4))"), "")
      }
    case .real(let number):
      if format == .json, !number.isFinite { return (unrepresentable("the number \(RealText.shortest(number))"), "") }
    case .date(let date):
      if !CalendarDate.isRepresentable(date) { return (unrepresentable("the date \(date.rfc3339)"), "") }
    case .array(let elements):
      if depth >= DecodingLimits.default.maximumDepth { return (.tooDeep(limit: depth), "") }
      for (index, element) in elements.enumerated() {
        if let (what, path) = fault(element, depth: depth + 1) { return (what, "[\(index)]" + path) }
      }
    case .dictionary(let members):
      if depth >= DecodingLimits.default.maximumDepth { return (.tooDeep(limit: depth), "") }
      for (key, member) in members {
        if let reason = KeyCheck.objection(key) ?? budget.object() ?? budget.content(key.utf8.count) {
          return (reason, Self.step(key))
        }
        let inKey = format == .xml ? Self.characterForbiddenInXML(key) : nil
        if let inKey {
          return (unrepresentable("the character U+\(hexadecimal(inKey.value, width: 4)) in a key"), Self.step(key))
        }
        if let (what, path) = fault(member, depth: depth + 1) { return (what, Self.step(key) + path) }
      }
    case .data(let bytes):
      if let reason = budget.content(bytes.count) { return (reason, "") }
    case .integer, .boolean: break
    }
    return nil
  }

  /// A key as a step of a path.
  private static func step(_ key: String) -> String {
    var text = "."
    DisplayText.appendKey(DisplayText.excerpt(key), to: &text)
    return text
  }

  private func unrepresentable(_ what: String) -> PropertyListError.Reason {
    .unrepresentable(what, format: format)
  }

  /// The characters that XML 1.0 cannot write in any way: most control characters, U+FFFE and U+FFFF.
  private static func characterForbiddenInXML(_ text: String) -> Unicode.Scalar? {
    // Almost all texts end here: nothing below a space, and nothing that starts with the byte 0xEF.
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0xEF }) else { return nil }
    return text.unicodeScalars.first { scalar in
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: false
      case 0..<0x20, 0xFFFE, 0xFFFF: true
      default: false
      }
    }
  }
}

/// Lower-case hexadecimal digits, filled with zeros on the left.
func hexadecimal(_ value: UInt32, width: Int) -> String {
  let digits = String(value, radix: 16)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
