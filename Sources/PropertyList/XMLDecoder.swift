import CExpat
import Glibc

/// Reads XML property lists over expat, from the root element inwards, without recursion.
///
/// The document type is not read, and must not declare anything: a property list has no use for entities. Comments,
/// processing instructions and CDATA sections may stand anywhere. What Apple's DTD does not allow is an error, also
/// where Foundation lets it pass: text between elements, a key in an array, attributes beside `version`, a key twice.
final class XMLDecoder {
  private enum Element: String, CaseIterable {
    case plist, dict, array, key, string, integer, real, date, data, `true`, `false`
  }

  /// The elements' names as bytes: comparing strings that are not ASCII can take long.
  private static let names: [(element: Element, name: [CChar])] = Element.allCases.map {
    ($0, $0.rawValue.utf8CString.map { $0 })
  }

  private struct Container {
    var isDictionary: Bool
    var elements: [PropertyListValue] = []
    var members: [String: PropertyListValue] = [:]
    var key: String?
  }

  private let parser: XML_Parser
  private let limits: DecodingLimits
  private var budget: DecodingBudget
  private var open: [Container] = []
  /// The element whose text is being gathered.
  private var scalar: Element?
  private var text: [UInt8] = []
  private var isInPlist = false
  private var root: PropertyListValue?
  private var error: PropertyListError?

  static func decode(_ bytes: [UInt8], limits: DecodingLimits) throws(PropertyListError) -> PropertyListValue {
    let (text, transcoded) = try TextEncoding.utf8(bytes, validating: false)
    guard !text.isEmpty else { throw PropertyListError(.empty, at: .line(1, column: 1)) }
    // A transcoded text's own statement about its encoding no longer holds.
    guard let parser = transcoded ? XML_ParserCreate("UTF-8") : XML_ParserCreate(nil) else {
      fatalError("out of memory")
    }
    defer { XML_ParserFree(parser) }
    let decoder = XMLDecoder(parser: parser, limits: limits)
    return try withExtendedLifetime(decoder) { () throws(PropertyListError) -> PropertyListValue in
      decoder.install()
      return try decoder.parse(text)
    }
  }

  private init(parser: XML_Parser, limits: DecodingLimits) {
    self.parser = parser
    self.limits = limits
    budget = DecodingBudget(limits)
  }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> XMLDecoder {
    Unmanaged<XMLDecoder>.fromOpaque(pointer.unsafelyUnwrapped).takeUnretainedValue()
  }

  private func install() {
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { XMLDecoder.from($0).start($1.unsafelyUnwrapped, attributes: $2.unsafelyUnwrapped) },
      { data, _ in XMLDecoder.from(data).end() })
    XML_SetCharacterDataHandler(parser) { data, bytes, count in
      XMLDecoder.from(data).characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
    XML_SetStartDoctypeDeclHandler(parser) { data, name, _, _, hasInternalSubset in
      let decoder = XMLDecoder.from(data)
      if hasInternalSubset != 0 { decoder.fail(.internalSubset) }
      if let name, strcmp(name, "plist") != 0 {
        decoder.fail(.unexpected("the document type '\(XMLDecoder.excerpt(name))'", expected: "'plist'"))
      }
    }
    // Without its DTD a document may name entities that expat does not know; it would pass over them in silence.
    XML_SetSkippedEntityHandler(parser) { data, name, _ in
      XMLDecoder.from(data).fail(.notWellFormed("undefined entity '\(name.map(XMLDecoder.excerpt) ?? "")'"))
    }
  }

  private func parse(_ text: [UInt8]) throws(PropertyListError) -> PropertyListValue {
    // Pieces, since a length is a C int; large ones, since expat copies what it has not finished.
    var start = 0
    var status = XML_STATUS_OK
    repeat {
      let count = min(text.count - start, 1 << 24)
      status = text.withUnsafeBytes { bytes in
        XML_Parse(
          parser, bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self), Int32(count),
          start + count == text.count ? 1 : 0)
      }
      start += count
    } while status == XML_STATUS_OK && start < text.count
    if let error { throw error }
    guard status == XML_STATUS_OK else {
      let words = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
      throw PropertyListError(.notWellFormed(words), at: position)
    }
    guard let root else { throw PropertyListError(.empty, at: position) }
    return root
  }

  private var position: PropertyListError.Position {
    .line(Int(XML_GetCurrentLineNumber(parser)), column: Int(XML_GetCurrentColumnNumber(parser)) + 1)
  }

  private static func excerpt(_ name: UnsafePointer<CChar>) -> String { DisplayText.excerpt(String(cString: name)) }

  /// Notes the first error and stops expat.
  private func fail(_ reason: PropertyListError.Reason) {
    guard error == nil else { return }
    error = PropertyListError(reason, at: position)
    XML_StopParser(parser, 0)
  }

  // MARK: Events

  private func start(
    _ cName: UnsafePointer<CChar>, attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
  ) {
    guard error == nil else { return }
    guard let element = Self.names.first(where: { strcmp($0.name, cName) == 0 })?.element else {
      return fail(.unexpected("<\(Self.excerpt(cName))>", expected: "an element of a property list"))
    }
    let name = element.rawValue
    if let attribute = attributes[0], element != .plist || strcmp(attribute, "version") != 0 || attributes[2] != nil {
      return fail(.unexpected("the attribute '\(Self.excerpt(attribute))' of <\(name)>", expected: "none"))
    }
    if element == .plist {
      if isInPlist { return fail(.unexpected("<plist>", expected: "a value")) }
      isInPlist = true
      return
    }
    guard isInPlist else { return fail(.unexpected("<\(name)>", expected: "<plist>")) }
    if let scalar { return fail(.unexpected("<\(name)>", expected: "text in <\(scalar.rawValue)>")) }
    if let reason = budget.object() { return fail(reason) }
    if let container = open.last, container.isDictionary {
      if element == .key, let key = container.key {
        return fail(.unexpected("<key>", expected: "the value of \(DisplayText.quotedExcerpt(key))"))
      }
      if element != .key, container.key == nil { return fail(.unexpected("<\(name)>", expected: "<key>")) }
    } else if element == .key {
      return fail(.unexpected("<key>", expected: "a value"))
    } else if open.isEmpty, root != nil {
      return fail(.unexpected("<\(name)>", expected: "</plist>"))
    }
    switch element {
    case .dict, .array:
      if let reason = budget.enter(from: open.count) { return fail(reason) }
      open.append(Container(isDictionary: element == .dict))
    default:
      scalar = element
      text.removeAll(keepingCapacity: true)
    }
  }

  private func characters(_ bytes: UnsafeBufferPointer<CChar>) {
    guard error == nil else { return }
    bytes.withMemoryRebound(to: UInt8.self) { bytes in
      if scalar != nil {
        if let reason = budget.content(bytes.count) { return fail(reason) }
        text.append(contentsOf: bytes)
      } else if !bytes.allSatisfy(XMLDecoder.isSpace) {
        fail(.unexpected("text", expected: "an element"))
      }
    }
  }

  private func end() {
    guard error == nil else { return }
    if let scalar {
      self.scalar = nil
      if scalar == .key { return endKey() }
      if let value = value(of: scalar) { add(value) }
      return
    }
    guard let container = open.popLast() else { return }
    if let key = container.key {
      return fail(.unexpected("</dict>", expected: "the value of \(DisplayText.quotedExcerpt(key))"))
    }
    add(container.isDictionary ? .dictionary(container.members) : .array(container.elements))
  }

  private func endKey() {
    let key = String(decoding: text, as: UTF8.self)
    if let reason = KeyCheck.objection(key) { return fail(reason) }
    if open[open.count - 1].members[key] != nil { return fail(.duplicateKey(key)) }
    open[open.count - 1].key = key
  }

  private func add(_ value: PropertyListValue) {
    guard let last = open.indices.last else {
      root = value
      return
    }
    if let key = open[last].key {
      open[last].members[key] = value
      open[last].key = nil
    } else {
      open[last].elements.append(value)
    }
  }

  // MARK: Scalars

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  /// The gathered text without white space at its ends.
  private var trimmed: String {
    let tail = text.drop(while: Self.isSpace)
    let end = tail.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? tail.startIndex
    return String(decoding: tail[..<end], as: UTF8.self)
  }

  private func value(of element: Element) -> PropertyListValue? {
    switch element {
    case .string: return .string(String(decoding: text, as: UTF8.self))
    case .true, .false:
      if trimmed.isEmpty { return .boolean(element == .true) }
      fail(.unexpected("text", expected: "nothing in <\(element.rawValue)>"))
    case .integer:
      let trimmed = trimmed
      if let number = Self.integer(trimmed) { return .integer(number) }
      fail(IntegerText.fault(trimmed))
    case .real:
      if let number = Self.real(trimmed) { return .real(number) }
      fail(.invalidReal(trimmed))
    case .date:
      if let date = PropertyListDate(xml: trimmed) { return .date(date) }
      fail(.invalidDate(trimmed))
    case .data:
      if let data = Base64.decode(text) { return .data(data) }
      fail(.invalidData)
    case .plist, .dict, .array, .key: break
    }
    return nil
  }

  /// Decimal, or hexadecimal after `0x`, with a sign or without.
  private static func integer(_ text: String) -> PropertyListInteger? {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let unsigned = isNegative || text.utf8.first == UInt8(ascii: "+") ? text.utf8.dropFirst() : text.utf8[...]
    guard unsigned.starts(with: "0x".utf8) || unsigned.starts(with: "0X".utf8) else {
      return PropertyListInteger(decimal: text)
    }
    let digits = unsigned.dropFirst(2)
    guard digits.allSatisfy({ hexadecimalDigit($0) != nil }), let magnitude = UInt64(Substring(digits), radix: 16)
    else {
      return nil
    }
    if !isNegative { return PropertyListInteger(magnitude) }
    return magnitude <= 1 << 63 ? PropertyListInteger(Int64(bitPattern: 0 &- magnitude)) : nil
  }

  private static func real(_ text: String) -> Double? {
    switch text.utf8.count <= 9 ? text.lowercased() : "" {
    case "nan": .nan
    case "inf", "+inf", "infinity", "+infinity": .infinity
    case "-inf", "-infinity": -.infinity
    default: RealText.strict(text)
    }
  }
}
