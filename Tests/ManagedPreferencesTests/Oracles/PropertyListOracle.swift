import Foundation
import PropertyList

/// Rows about property lists, of corelibs and CPython. The rows `dc-*` of the same file are about dconf's profiles.
struct PropertyListOracle: Oracle {
  static let file = "plist-and-dconf-extras"
  static func isOurs(_ id: String) -> Bool { !id.hasPrefix("dc-") }

  mutating func observe(_ row: OracleRow) throws -> Set<String>? {
    switch row.id {
    case "pl-empty-binary":
      return ["\(try PropertyListCoding.encode(.dictionary([:]), as: .binary).count) bytes"]
    case "pl-cf-array-key":
      let value = try? PropertyListCoding.decode(Array("<plist><array><key>k</key></array></plist>".utf8))
      return [value == .array([.string("k")]) ? "probed here: accepted as [\"k\"]; CPython refuses" : "refused"]
    case "pl-cf-bplist00":
      let value = try? PropertyListCoding.decode(Array("bplist00".utf8))
      let read = "probed here: the STRING \"bplist00\" (OpenStep fallback); CPython refuses"
      return [value == .string("bplist00") ? read : "refused"]
    case "py-int": return try integers()
    case "py-control": return controlCharacters()
    case "py-keysort": return try sorting()
    case "py-apple-bytes": return try appleBytes()
    default: return nil
    }
  }

  private func integers() throws -> Set<String> {
    let small: [Int] = [0, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, .max, 1, .min]
    let all = small.map { PropertyListInteger($0) } + [PropertyListInteger(UInt64.max)]
    for value in all.map(PropertyListValue.integer) + [.array(all.map(PropertyListValue.integer))] {
      for format in [PropertyListFormat.xml, .binary] {
        let bytes = try PropertyListCoding.encode(value, as: format)
        let read = try PropertyListCoding.decode(bytes)
        guard read == value, try PropertyListCoding.encode(read, as: format) == bytes else { return [] }
      }
    }
    return ["values and bytes identical"]
  }

  private func controlCharacters() -> Set<String> {
    let refused = (UInt8(0)..<32).filter { byte in
      (try? PropertyListCoding.encode(.string(String(Unicode.Scalar(byte))), as: .xml)) == nil
    }
    return refused == (0..<32).filter { ![9, 10, 13].contains($0) } ? ["refused on write"] : []
  }

  /// There is one way of writing here: CPython's second has nothing to set it apart.
  private func sorting() throws -> Set<String> {
    let value = try PropertyListCoding.decode(Array("{ b = 1; a = 2; c = 3; }".utf8))
    let text = String(decoding: try PropertyListCoding.encode(value, as: .xml), as: UTF8.self)
    let order = text.matches(of: /<key>(.)<\/key>/).map { String($0.1) }.joined(separator: ",")
    return ["\(order) / \(order)"]
  }

  private func appleBytes() throws -> Set<String> {
    func file(_ name: String) throws -> [UInt8]? {
      try Oracles.shared("data/plist-torture/files/cpython__" + name).map { [UInt8](try Data(contentsOf: $0)) }
    }
    guard let binary = try file("TESTDATA_FMT_BINARY.plist"), let marked = try file("xml_bom_utf-8.plist") else {
      return []
    }
    // CPython's suite keeps the XML form as Apple wrote it in a variable, and in the file with a byte-order mark and its own
    // spelling of the encoding.
    let spelling = "encoding=\"utf-8\""
    var xml = String(decoding: marked.dropFirst(3), as: UTF8.self)
    guard let range = xml.range(of: spelling) else { return [] }
    xml.replaceSubrange(range, with: "encoding=\"UTF-8\"")
    for (bytes, format) in [(binary, PropertyListFormat.binary), (Array(xml.utf8), .xml)] {
      guard try PropertyListCoding.encode(PropertyListCoding.decode(bytes), as: format) == bytes else { return [] }
    }
    return ["byte-identical to what Apple wrote"]
  }
}
