import ConversionRows
import ForcedDomain
import Foundation
import PropertyList
import Testing

@testable import ManagedPreferences

/// The table of conversions, through every getter and out of every kind of layer: a forced value converts as a stored one does.
@Suite struct ConversionTests {
  enum Source: String, CaseIterable, Sendable {
    /// Set by the object that reads.
    case memory
    /// Written by others before the object was made.
    case disk
    case registered, recommended, forced
  }

  static let rows =
    ConversionRow.all
    + ConversionRow.stringArrays.map { ConversionRow("\($0.0)", $0.0) }.filter { $0.stored.type == .array }

  @Test(arguments: Source.allCases) func everyGetterAgainstEveryStoredType(_ source: Source) throws {
    let sandbox = try Sandbox()
    let file = "\(sandbox.configuration)/\(Sandbox.application).plist"
    let rows = Self.rows.enumerated().map { ("k\($0)", $1) }
    let values = Dictionary(uniqueKeysWithValues: rows.map { ($0, $1.stored) })
    let section: PolicySection? = source == .forced ? .forced : source == .recommended ? .recommended : nil
    if let section { try sandbox.install(values.map { .init($0, $1, section: section) }) }
    if source == .disk {
      try sandbox.replace(file, PropertyListCoding.encode(.dictionary(values), as: .binary), mode: 0o600)
    }
    let defaults = sandbox.defaults()
    if source == .registered { defaults.register(defaults: values.mapValues(FoundationValues.object)) }
    for (key, row) in rows {
      if source == .memory { defaults.set(FoundationValues.object(row.stored), forKey: key) }
      try expect(defaults, key, row)
      #expect(defaults.objectIsForced(forKey: key) == (source == .forced))
    }
    if source == .memory {
      #expect(defaults.synchronize())
      let written = try PropertyListCoding.decode([UInt8](Data(contentsOf: URL(filePath: file))))
      for (key, row) in rows { #expect(written.dictionaryValue?[key] == row.stored, "\(row)") }
    }
  }

  private func expect(_ defaults: ManagedDefaults, _ key: String, _ row: ConversionRow) throws {
    #expect(defaults.bool(forKey: key) == row.bool, "\(row)")
    #expect(defaults.integer(forKey: key) == row.integer, "\(row)")
    #expect(isSame(defaults.double(forKey: key), row.double), "\(row)")
    #expect(isSame(Double(defaults.float(forKey: key)), Double(Float(row.double))), "\(row)")
    #expect(defaults.string(forKey: key) == row.string, "\(row)")
    #expect(try FoundationValues.propertyList(#require(defaults.object(forKey: key))) == row.stored, "\(row)")
    // Only the same type comes out of the other getters.
    let array = try defaults.array(forKey: key).map { try FoundationValues.propertyList($0) }
    #expect(array == row.stored.arrayValue.map { .array($0) }, "\(row)")
    let dictionary = try defaults.dictionary(forKey: key).map { try FoundationValues.dictionary($0) }
    #expect(dictionary == row.stored.dictionaryValue, "\(row)")
    #expect(defaults.data(forKey: key) == row.stored.dataValue.map { Data($0) }, "\(row)")
    #expect(defaults.stringArray(forKey: key) == row.strings, "\(row)")
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
