/// The four ways in which a property list is written down.
public enum PropertyListFormat: Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// Apple's `bplist00`.
  case binary
  /// Apple's XML property list.
  case xml
  /// OpenStep's text, with GNUstep's typed values (`<*I5>`), and the `key = value;` lines of `.strings` files.
  case openStep
  /// JSON (RFC 8259). It has no dates and no data: these are written as strings and come back as strings.
  case json

  /// With its article, for messages: `an XML property list`.
  public var description: String {
    switch self {
    case .binary: "a binary property list"
    case .xml: "an XML property list"
    case .openStep: "an old-style property list"
    case .json: "JSON"
    }
  }
}

/// Reading and writing of property lists, in all formats.
///
/// Whatever is decoded is exactly what was written, type by type, or an error: nothing is repaired, and nothing is
/// dropped in silence. Equal values encode to equal bytes (keys are sorted by their UTF-8 bytes).
public enum PropertyListCoding {
  /// Reads a property list.
  ///
  /// - Parameter format: The format that the bytes must have; nil means `detectFormat`.
  /// - Throws: An error with the byte offset (binary) or line and column (the texts).
  /// - Complexity: O(*n*) in the size of the input, whatever it stands for.
  public static func decode(
    _ bytes: [UInt8], as format: PropertyListFormat? = nil, limits: DecodingLimits = .default
  ) throws(PropertyListError) -> PropertyListValue {
    let format = format ?? detectFormat(bytes)
    guard bytes.count <= limits.maximumBytes else {
      throw PropertyListError(
        .inputTooLarge(limit: limits.maximumBytes),
        at: format == .binary ? .offset(limits.maximumBytes) : .line(1, column: 1))
    }
    return switch format {
    case .binary: try BinaryDecoder.decode(bytes, limits: limits)
    case .xml: try XMLDecoder.decode(bytes, limits: limits)
    case .openStep: try OpenStepDecoder.decode(bytes, limits: limits)
    case .json: try JSONReader.decode(bytes, limits: limits)
    }
  }

  /// Writes a property list in its canonical form: keys sorted by their UTF-8 bytes.
  ///
  /// - Throws: `unrepresentable` where the format has no form for a value (a control character in XML, a number that
  ///   is not finite in JSON, a date outside the years 0000 … 9999 anywhere), or what goes beyond `DecodingLimits.default`
  ///   (nothing is written that `decode` would refuse); with the path to the value.
  /// - Complexity: O(*n* log *n*) in the size of the value.
  public static func encode(
    _ value: PropertyListValue, as format: PropertyListFormat
  ) throws(PropertyListError) -> [UInt8] {
    var check = EncodableCheck(format: format)
    try check.check(value)
    let bytes =
      switch format {
      case .binary: BinaryEncoder.encode(value)
      case .xml: XMLEncoder.encode(value)
      case .openStep: OpenStepEncoder.encode(value)
      case .json: JSONWriter.document(value)
      }
    let limit = DecodingLimits.default.maximumBytes
    if bytes.count > limit { throw PropertyListError(.inputTooLarge(limit: limit), at: .path("")) }
    return bytes
  }
}
