import Foundation
import PropertyList
import Testing

/// What Foundation writes we read, and what we write Foundation reads: an application that moves keeps its values.
@Suite("Beside Foundation")
struct FoundationComparisonTests {
  @Test("Foundation reads what we write", arguments: [PropertyListFormat.binary, .xml])
  func weWrite(_ format: PropertyListFormat) throws {
    let value = PropertyListValue.dictionary([
      "flag": .boolean(true), "count": .integer(42), "ratio": .real(0.5), "text": .string("é <&>"),
      "bytes": .data([1, 2]),
      "when": .date(.init(secondsSinceReferenceDate: 5)), "list": .array([.string("a"), .dictionary([:])]),
    ])
    let bytes = try PropertyListCoding.encode(value, as: format)
    let read = try PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
    let dictionary = try #require(read as? [String: Any])
    #expect(dictionary["flag"] as? Bool == true)
    #expect(dictionary["count"] as? Int == 42)
    #expect(dictionary["ratio"] as? Double == 0.5)
    #expect(dictionary["text"] as? String == "é <&>")
    #expect(dictionary["bytes"] as? Data == Data([1, 2]))
    #expect(dictionary["when"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
    #expect((dictionary["list"] as? [Any])?.count == 2)
  }

  @Test("we read what Foundation writes", arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func foundationWrites(_ format: PropertyListSerialization.PropertyListFormat) throws {
    let dictionary: [String: Any] = [
      "flag": true, "count": 42, "ratio": 0.5, "text": "é <&>", "bytes": Data([1, 2]), "list": ["a", "b"],
      "when": Date(timeIntervalSinceReferenceDate: 5),
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: dictionary, format: format, options: 0)
    #expect(
      try PropertyListCoding.decode(Array(data))
        == .dictionary([
          "flag": .boolean(true), "count": .integer(42), "ratio": .real(0.5), "text": .string("é <&>"),
          "bytes": .data([1, 2]),
          "list": .array([.string("a"), .string("b")]), "when": .date(.init(secondsSinceReferenceDate: 5)),
        ]))
  }

  static let archivedURLRows: [(String, String?)] = [
    ("https://example.org/a?b=c#d", nil), ("foo.xml", "https://www.example.com"), ("mailto:a@example.org", nil),
  ]

  @Test(
    "archived URLs, both ways",
    arguments: archivedURLRows)
  func archivedURL(_ text: String, _ base: String?) throws {
    let url = try #require(NSURL(string: text, relativeTo: base.flatMap { URL(string: $0) }))
    let theirs = try NSKeyedArchiver.archivedData(withRootObject: url, requiringSecureCoding: true)
    #expect(PropertyListValue.data(Array(theirs)).urlValue(home: "/") == .url(text: text, base: base))

    let ours = try #require(URLReference.storedForm(of: .url(text: text, base: base), home: "/").dataValue)
    let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: Data(ours)))
    #expect(read.relativeString == text)
    #expect(read.baseURL?.absoluteString == base)
  }

  /// Where the two differ, ours is the stricter.
  @Test(
    "what Foundation accepts and we refuse",
    arguments: [
      "bplist00", "<plist><array><key>k</key></array></plist>", "/*hello",
      "<plist><dict><key>a</key><true/><key>a</key><false/></dict></plist>",
    ])
  func stricter(_ text: String) {
    #expect(throws: PropertyListError.self) { try PropertyListCoding.decode(Array(text.utf8)) }
    #expect((try? PropertyListSerialization.propertyList(from: Data(text.utf8), options: [], format: nil)) != nil)
  }
}
