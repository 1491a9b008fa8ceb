import CManagedPreferences
import ConversionRows
import ForcedDomain
import Foundation
import PreferencesCore
import PropertyList
import Testing

@testable import ManagedPreferencesC

/// The table of conversions through C's getters.
@Suite struct ConversionTests {
  enum Source: String, CaseIterable, Sendable { case set, disk, registered, recommended, forced }

  static let rows =
    ConversionRow.all
    + ConversionRow.stringArrays.map(\.0).filter { $0.type == .array }.map { ConversionRow("\($0)", $0) }

  /// What each of C's getters gives for a key, in words that can be compared.
  static func answers(_ handle: OpaquePointer, _ key: String) -> [String] {
    var (flag, integer, float, double) = (true, Int64(99), Float(99), 99.0)
    #expect(mp_get_bool(handle, key, &flag) == MP_OK)
    #expect(mp_get_integer(handle, key, &integer) == MP_OK)
    #expect(mp_get_float(handle, key, &float) == MP_OK)
    #expect(mp_get_double(handle, key, &double) == MP_OK)
    var text: UnsafeMutablePointer<CChar>?
    var length = 99
    #expect(mp_get_string(handle, key, &text, &length) == MP_OK)
    var strings: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var count = 99
    #expect(mp_get_string_array(handle, key, &strings, &count) == MP_OK)
    var bytes: UnsafeMutableRawPointer?
    var size = 99
    #expect(mp_get_data(handle, key, &bytes, &size) == MP_OK)
    var (value, array, dictionary) = (OpaquePointer?.none, OpaquePointer?.none, OpaquePointer?.none)
    #expect(mp_get_value(handle, key, &value) == MP_OK)
    #expect(mp_get_array(handle, key, &array) == MP_OK)
    #expect(mp_get_dictionary(handle, key, &dictionary) == MP_OK)
    defer {
      for block in [UnsafeMutableRawPointer(text), UnsafeMutableRawPointer(strings), bytes] { mp_free(block) }
      for value in [value, array, dictionary] { mp_value_release(value) }
    }
    let string = text.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
    let elements = strings.map { strings in (0..<count).map { String(cString: strings[$0]!) } }
    let data = bytes.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: size)) }
    return describe(
      flag, integer, float, double, string, elements, data, value.map { ValueHandle.of($0).value },
      array.map { ValueHandle.of($0).value }, dictionary.map { ValueHandle.of($0).value })
  }

  /// What the table says that they give.
  static func answers(_ row: ConversionRow) -> [String] {
    return describe(
      row.bool, Int64(row.integer), Float(row.double), row.double, row.string, row.strings, row.stored.dataValue,
      row.stored, row.stored.arrayValue == nil ? nil : row.stored,
      row.stored.dictionaryValue == nil ? nil : row.stored)
  }

  private static func describe(
    _ flag: Bool, _ integer: Int64, _ float: Float, _ double: Double, _ string: String?, _ strings: [String]?,
    _ data: [UInt8]?, _ value: PropertyListValue?, _ array: PropertyListValue?, _ dictionary: PropertyListValue?
  ) -> [String] {
    [
      "bool \(flag)", "integer \(integer)", "float \(float.isNaN ? "nan" : String(float.bitPattern))",
      "double \(double.isNaN ? "nan" : String(double.bitPattern))",
      "string \(string.map { PropertyListValue.string($0).displayText } ?? "NULL")",
      "strings \(strings.map { "\($0)" } ?? "NULL")", "data \(data.map { "\($0)" } ?? "NULL")",
      "value \(value.map { "\($0)" } ?? "NULL")", "array \(array.map { "\($0)" } ?? "NULL")",
      "dictionary \(dictionary.map { "\($0.dictionaryValue!.count) \($0)" } ?? "NULL")",
    ]
  }

  @Test(arguments: Source.allCases) func everyGetterAgainstEveryStoredType(_ source: Source) throws {
    let sandbox = try Sandbox()
    // A key of ASCII and another, since they take different ways.
    let keyed = Self.rows.enumerated().flatMap { index, row in [("k\(index)", row), ("ä\(index)", row)] }
    let values = Dictionary(uniqueKeysWithValues: keyed.map { ($0, $1.stored) })
    switch source {
    case .disk: try sandbox.store(values)
    case .forced: try sandbox.install(values)
    case .recommended: try sandbox.install(values, .recommended)
    case .set, .registered: break
    }
    let list = try sandbox.list()
    let handle = Handle(owning: PreferencesHandle.owned(list))
    if source == .registered { list.register(values) }
    for (key, row) in keyed {
      if source == .set {
        let value = ValueHandle.owned(row.stored)
        #expect(mp_set_value(handle.pointer, key, value) == MP_OK)
        mp_value_release(value)
      }
      #expect(Self.answers(handle.pointer, key) == Self.answers(row), "\(row)")
      var (isForced, layer) = (source != .forced, MP_LAYER_NONE)
      #expect(mp_is_forced(handle.pointer, key, &isForced) == MP_OK)
      #expect(isForced == (source == .forced))
      #expect(mp_get_layer(handle.pointer, key, &layer) == MP_OK)
      let layers = [
        Source.set: MP_LAYER_APPLICATION, .disk: MP_LAYER_APPLICATION, .registered: MP_LAYER_REGISTRATION,
        .recommended: MP_LAYER_RECOMMENDED, .forced: MP_LAYER_FORCED,
      ]
      #expect(layer == layers[source])
    }
  }

  @Test func absentKeys() throws {
    let handle = try Sandbox().handle()
    let nothing = ConversionRow("absent", .date(.init(secondsSinceReferenceDate: 0)))
    var expected = Self.answers(nothing)
    expected[7] = "value NULL"
    #expect(Self.answers(handle.pointer, "k") == expected)
  }

  // MARK: URLs

  private func url(_ handle: Handle) -> [String?] {
    var (url, base) = (UnsafeMutablePointer<CChar>?.none, UnsafeMutablePointer<CChar>?.none)
    #expect(mp_get_url(handle.pointer, "k", &url, &base) == MP_OK)
    defer {
      mp_free(url)
      mp_free(base)
    }
    return [url.map { String(cString: $0) }, base.map { String(cString: $0) }]
  }

  @Test func urlsFromText() throws {
    let sandbox = try Sandbox()
    let handle = try sandbox.handle()
    let rows: [(String, String)] = [
      ("~/a b", "file://\(sandbox.home)/a%20b"), ("~", "file://\(sandbox.home)"), ("/tmp/ä", "file:///tmp/%C3%A4"),
      ("/a?b#c%;", "file:///a%3Fb%23c%25;"), ("here", "file://\(FileManager.default.currentDirectoryPath)/here"),
      ("https://exam.example.org/?q=1#f", "https://exam.example.org/?q=1#f"), ("file:///x", "file:///x"),
    ]
    for (text, expected) in rows {
      #expect(mp_set_string(handle.pointer, "k", text) == MP_OK)
      #expect(url(handle) == [expected, nil], "\(text)")
    }
    #expect(mp_set_string(handle.pointer, "k", "/a b;c?ä") == MP_OK)
    #expect(url(handle)[0] == URL(fileURLWithPath: "/a b;c?ä").absoluteString)
    #expect(mp_set_integer(handle.pointer, "k", 1) == MP_OK)
    #expect(url(handle) == [nil, nil])
    let withNul = ValueHandle.owned(.string("https://x/\0y"))
    #expect(mp_set_value(handle.pointer, "k", withNul) == MP_OK)
    mp_value_release(withNul)
    #expect(url(handle) == [nil, nil])
  }

  /// Text and base that are set, what is stored for them, and what comes back.
  @Test func urlsThatAreSet() throws {
    let sandbox = try Sandbox()
    let list = try sandbox.list()
    let handle = Handle(owning: PreferencesHandle.owned(list))
    let rows: [(String, String?, stored: String?, text: String)] = [
      ("\(sandbox.home)/x", nil, "~/x", "file://\(sandbox.home)/x"), ("~/x", nil, "~/x", "file://\(sandbox.home)/x"),
      ("file://\(sandbox.home)/a%20b", nil, "~/a b", "file://\(sandbox.home)/a%20b"),
      ("file://localhost/tmp/x", nil, "/tmp/x", "file:///tmp/x"), ("file:/tmp/x", nil, "/tmp/x", "file:///tmp/x"),
      ("file://server.example/share", nil, nil, "file://server.example/share"),
      ("file:///a%zz", nil, nil, "file:///a%zz"), ("file:///a%00", nil, nil, "file:///a%00"),
      ("https://exam.example.org/a%20b", nil, nil, "https://exam.example.org/a%20b"),
      ("mailto:ann@example.org", nil, nil, "mailto:ann@example.org"),
      ("c/d", "https://exam.example.org/a/", nil, "c/d"),
    ]
    for row in rows {
      #expect(mp_set_url(handle.pointer, "k", row.0, row.1) == MP_OK, "\(row)")
      #expect(list.value("k").flatMap { if case .string(let text) = $0 { text } else { nil } } == row.stored)
      #expect(url(handle) == [row.text, row.1])
    }
    let refused: [(String, String?, String)] = [
      ("c/d", nil, "mp_set_url: 'url' is neither an absolute URL nor a path that begins with / or ~"),
      ("", nil, "mp_set_url: 'url' is neither an absolute URL nor a path that begins with / or ~"),
      ("https://a b", nil, "mp_set_url: a URL can't contain white space or control characters; escape them with %"),
      ("c", "d", "mp_set_url: 'base' is not an absolute URL"),
    ]
    for (text, base, message) in refused {
      #expect(mp_set_url(handle.pointer, "k", text, base) == MP_ERROR_FORMAT)
      #expect(String(cString: mp_error_message()) == message)
    }
  }
}
