/// Keyed archives of one `NSURL`, as `NSKeyedArchiver` writes them: its text, and the URL that it is relative to.
///
/// The archive is a property list of four parts; `$objects` holds the objects, which name each other by UIDs:
/// ```
/// $archiver NSKeyedArchiver · $version 100000 · $top {root: 1}
/// $objects  0 "$null" · 1 {$class, NS.base: 0 or another NSURL, NS.relative: 2} · 2 "https://…" · … {$classname: NSURL}
/// ```
enum URLArchive {
  /// An archive is small: limits that no honest one reaches.
  private static let limits = DecodingLimits(
    maximumDepth: 8, maximumBytes: 1 << 20, maximumObjects: 200, maximumExpandedBytes: 1 << 20)

  static func encode(text: String, base: String?) -> [UInt8] {
    let null: UInt32 = 0
    let classNumber: UInt32 = base == nil ? 3 : 5
    func url(text: UInt32, base: UInt32) -> PropertyListValue {
      .dictionary([
        "NS.base": KeyedArchiveUID.dictionary(base), "NS.relative": KeyedArchiveUID.dictionary(text),
        "$class": KeyedArchiveUID.dictionary(classNumber),
      ])
    }
    var objects: [PropertyListValue] = [.string("$null"), url(text: 2, base: base == nil ? null : 3), .string(text)]
    if let base { objects += [url(text: 4, base: null), .string(base)] }
    objects.append(
      .dictionary(["$classname": .string("NSURL"), "$classes": .array([.string("NSURL"), .string("NSObject")])]))
    return BinaryEncoder.encode(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary(["root": KeyedArchiveUID.dictionary(1)]), "$objects": .array(objects),
      ]))
  }

  /// The URL; nil for anything that is not such an archive, or holds anything but one URL.
  static func decode(_ bytes: [UInt8]) -> URLReference? {
    guard let archive = try? PropertyListCoding.decode(bytes, limits: limits),
      case .dictionary(let parts) = archive, parts["$archiver"] == .string("NSKeyedArchiver"),
      case .dictionary(let top)? = parts["$top"], case .array(let objects)? = parts["$objects"],
      case (let text, let base)? = url(top["root"], in: objects)
    else { return nil }
    guard let base else { return .url(text: text, base: nil) }
    // The base of an NSURL is absolute: it has no base of its own.
    guard case (let baseText, nil)? = url(base, in: objects) else { return nil }
    return .url(text: text, base: baseText)
  }

  /// The text of an NSURL object, and the reference to its base where it has one.
  private static func url(
    _ reference: PropertyListValue?, in objects: [PropertyListValue]
  ) -> (text: String, base: PropertyListValue?)? {
    guard case .dictionary(let object)? = follow(reference, in: objects),
      case .dictionary(let type)? = follow(object["$class"], in: objects), type["$classname"] == .string("NSURL"),
      case .string(let text)? = follow(object["NS.relative"], in: objects),
      let base = follow(object["NS.base"], in: objects)
    else { return nil }
    return (text, base == .string("$null") ? nil : object["NS.base"])
  }

  private static func follow(_ reference: PropertyListValue?, in objects: [PropertyListValue]) -> PropertyListValue? {
    guard case .dictionary(let members)? = reference, let number = KeyedArchiveUID.number(members),
      number < objects.count
    else { return nil }
    return objects[Int(number)]
  }
}
