import ForcedDomain
import Foundation
import PropertyList
import Testing

@testable import ManagedPreferences

/// The table of conversions, through every getter and out of four layers: a forced value converts as a stored one does.
@Suite struct ConversionTests {
  struct Row: CustomTestStringConvertible, @unchecked Sendable {
    let id: String
    let object: Any
    let bool: Bool
    let integer: Int
    let double: Double
    let string: String?
    var testDescription: String { id }

    init(_ object: Any, _ bool: Bool, _ integer: Int, _ double: Double, _ string: String?, id: String? = nil) {
      self.id = id ?? "\(type(of: object)) \(object)"
      self.object = object
      self.bool = bool
      self.integer = integer
      self.double = double
      self.string = string
    }

    init(text: String, _ bool: Bool, _ integer: Int = 0, _ double: Double = 0) {
      self.init(text, bool, integer, double, text, id: "string \(text.debugDescription)")
    }
  }

  static let texts = [
    Row(text: "YES", true), Row(text: "yes", true), Row(text: "true", true), Row(text: "TRUE", true),
    Row(text: "T", true), Row(text: "y", true), Row(text: "1", true, 1, 1), Row(text: "01", true, 1, 1),
    Row(text: "0", false), Row(text: "-1", true, -1, -1), Row(text: "+1", true, 1, 1), Row(text: "NO", false),
    Row(text: "no", false), Row(text: "false", false), Row(text: "Yonder", true), Row(text: "tomato", true),
    Row(text: " true", true), Row(text: "\n\t 7", true, 7, 7), Row(text: "", false), Row(text: "off", false),
    Row(text: "on", false), Row(text: "nil", false), Row(text: "1.5", true, 1, 1.5), Row(text: "12abc", true, 12, 12),
    Row(text: "0.5", false, 0, 0.5), Row(text: ".5", false, 0, 0.5), Row(text: "--1", false),
    Row(text: "1e3", true, 1, 1000), Row(text: "0x10", false), Row(text: "42  ", true, 42, 42),
    Row(text: "inf", false), Row(text: "nan", false), Row(text: "12.34", true, 12, 12.34),
    Row(text: "99999999999999999999", true, .max, 1e20), Row(text: "-99999999999999999999", true, .min, -1e20),
    Row(text: "/usr/share", false),
  ]

  static let numbers = [
    Row(0, false, 0, 0, "0"), Row(1, true, 1, 1, "1"), Row(-1, true, -1, -1, "-1"), Row(42, true, 42, 42, "42"),
    Row(Int.max, true, .max, 9_223_372_036_854_775_808, "9223372036854775807"),
    Row(Int.min, true, .min, -9_223_372_036_854_775_808, "-9223372036854775808"),
    Row(UInt64.max, true, .max, 18_446_744_073_709_551_616, "18446744073709551615"),
    Row(3.7, true, 3, 3.7, "3.7"), Row(2.0, true, 2, 2, "2.0"), Row(0.0, false, 0, 0, "0.0"),
    Row(-0.0, false, 0, -0.0, "-0.0"), Row(0.5, true, 0, 0.5, "0.5"), Row(-2.9, true, -2, -2.9, "-2.9"),
    Row(Float(3.7), true, 3, Double(Float(3.7)), "3.7"), Row(Float(12.34), true, 12, Double(Float(12.34)), "12.34"),
    Row(1e20, true, .max, 1e20, "1e+20"), Row(-1e20, true, .min, -1e20, "-1e+20"),
    Row(Double.infinity, true, .max, .infinity, "inf"), Row(-Double.infinity, true, .min, -.infinity, "-inf"),
    Row(Double.nan, true, 0, .nan, "nan"),
    Row(true, true, 1, 1, "1"), Row(false, false, 0, 0, "0"),
    Row(NSNumber(value: true), true, 1, 1, "1", id: "NSNumber true"),
    Row(NSNumber(value: Float(0.1)), true, 0, Double(Float(0.1)), "0.1", id: "NSNumber Float"),
  ]

  static let others = [
    Row(Date(timeIntervalSinceReferenceDate: 1), false, 0, 0, nil, id: "date"),
    Row(Data("YES".utf8), false, 0, 0, nil, id: "data"), Row(["YES", "1"], false, 0, 0, nil, id: "array"),
    Row([Any](), false, 0, 0, nil, id: "empty array"), Row([1, 2], false, 0, 0, nil, id: "array of numbers"),
    Row(["a", 1] as [Any], false, 0, 0, nil, id: "mixed array"), Row(["a": 1], false, 0, 0, nil, id: "dictionary"),
  ]

  enum Source: String, CaseIterable, Sendable { case stored, registered, recommended, forced }

  static var rows: [Row] { texts + numbers + others }

  @Test(arguments: rows, Source.allCases) func everyGetter(_ row: Row, _ source: Source) throws {
    let sandbox = try Sandbox()
    let value = try FoundationValues.propertyList(row.object)
    if source == .forced { try sandbox.install([.init("k", value)]) }
    if source == .recommended { try sandbox.install([.init("k", value, section: .recommended)]) }
    let defaults = sandbox.defaults()
    if source == .stored { defaults.set(row.object, forKey: "k") }
    if source == .registered { defaults.register(defaults: ["k": row.object]) }

    #expect(defaults.bool(forKey: "k") == row.bool)
    #expect(defaults.integer(forKey: "k") == row.integer)
    #expect(isSame(defaults.double(forKey: "k"), row.double))
    #expect(isSame(Double(defaults.float(forKey: "k")), Double(Float(row.double))))
    #expect(defaults.string(forKey: "k") == row.string)
    #expect(try FoundationValues.propertyList(#require(defaults.object(forKey: "k"))) == value)
    #expect(defaults.objectIsForced(forKey: "k") == (source == .forced))

    // Only the same type comes out of the other getters.
    let array: [PropertyListValue]? = if case .array(let elements) = value { elements } else { nil }
    let dictionary: [String: PropertyListValue]? = if case .dictionary(let members) = value { members } else { nil }
    let data: Data? = if case .data(let bytes) = value { Data(bytes) } else { nil }
    #expect(try defaults.array(forKey: "k").map { try FoundationValues.propertyList($0) } == array.map { .array($0) })
    #expect(try defaults.dictionary(forKey: "k").map { try FoundationValues.dictionary($0) } == dictionary)
    #expect(defaults.data(forKey: "k") == data)
    #expect(defaults.stringArray(forKey: "k") == (row.object as? [Any]).flatMap { $0 as? [String] })
  }

  /// Equal bits, or both not a number.
  private func isSame(_ a: Double, _ b: Double) -> Bool { a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN) }

  @Test func absentKeys() throws {
    let defaults = try Sandbox().defaults()
    #expect(defaults.object(forKey: "k") == nil)
    #expect(defaults.string(forKey: "k") == nil)
    #expect(defaults.array(forKey: "k") == nil)
    #expect(defaults.dictionary(forKey: "k") == nil)
    #expect(defaults.data(forKey: "k") == nil)
    #expect(defaults.stringArray(forKey: "k") == nil)
    #expect(defaults.url(forKey: "k") == nil)
    #expect(defaults.integer(forKey: "k") == 0)
    #expect(defaults.float(forKey: "k") == 0)
    #expect(defaults.double(forKey: "k") == 0)
    #expect(!defaults.bool(forKey: "k"))
    #expect(!defaults.objectIsForced(forKey: "k"))
    #expect(defaults.object(forKey: "") == nil)
  }

  // MARK: - URLs

  @Test func urlFromText() throws {
    let sandbox = try Sandbox()
    let defaults = sandbox.defaults()
    let rows: [(String, URL?)] = [
      ("~/Documents", URL(fileURLWithPath: sandbox.home + "/Documents")),
      ("~", URL(fileURLWithPath: sandbox.home)),
      ("/hello/world", URL(fileURLWithPath: "/hello/world")),
      ("/a b/ü", URL(fileURLWithPath: "/a b/ü")),
      ("/tmp", URL(fileURLWithPath: "/tmp")),
      ("https://exam.example.org/?q=1#f", URL(string: "https://exam.example.org/?q=1#f")),
      ("file:///hello/world", URL(string: "file:///hello/world")),
    ]
    for (text, url) in rows {
      defaults.set(text, forKey: "k")
      #expect(defaults.url(forKey: "k") == url, "\(text)")
    }
    for other in [1, 1.5, true, Date(), Data([1, 2, 3]), ["/"], ["a": "/"]] as [Any] {
      defaults.set(other, forKey: "k")
      #expect(defaults.url(forKey: "k") == nil, "\(other)")
    }
  }

  @Test func urlsComeBack() throws {
    let sandbox = try Sandbox()
    let defaults = sandbox.defaults()
    let web = try #require(URL(string: "https://exam.example.org/a%20b?q=1"))
    let relative = try #require(URL(string: "c/d", relativeTo: URL(string: "https://exam.example.org/a/")))
    let share = try #require(URL(string: "file://server.example/share/x"))
    for url in [web, relative, share, URL(fileURLWithPath: "/hello/world"), URL(fileURLWithPath: "/tmp")] {
      defaults.set(url, forKey: "k")
      #expect(defaults.url(forKey: "k")?.absoluteString == url.absoluteString)
      defaults.set(url as Any?, forKey: "k")
      #expect(defaults.url(forKey: "k")?.absoluteString == url.absoluteString)
      defaults.set(NSURL(string: url.absoluteString) as Any?, forKey: "k")
      #expect(defaults.url(forKey: "k")?.absoluteString == url.absoluteString)
      defaults.removeObject(forKey: "k")
      defaults.register(defaults: ["k": url])
      #expect(defaults.url(forKey: "k")?.absoluteString == url.absoluteString)
    }
    defaults.set(relative, forKey: "k")
    #expect(defaults.url(forKey: "k")?.relativeString == "c/d")
  }

  @Test func fileURLsAreStoredAsPaths() throws {
    let sandbox = try Sandbox()
    let defaults = sandbox.defaults()
    let rows = [
      ("/hello/world", "/hello/world"), (sandbox.home, "~"), (sandbox.home + "/x/y", "~/x/y"),
      (sandbox.home + "2/x", sandbox.home + "2/x"),
    ]
    for (path, text) in rows {
      defaults.set(URL(fileURLWithPath: path), forKey: "k")
      #expect(defaults.string(forKey: "k") == text)
    }
    defaults.set(URL(string: "https://exam.example.org/"), forKey: "k")
    #expect(defaults.object(forKey: "k") is Data)
    defaults.set(URL?.none, forKey: "k")
    #expect(defaults.object(forKey: "k") == nil)
  }
}
