import PropertyList
import Testing

@testable import PreferencesCore

/// Boolean, integer and real stay three types on every way, inside collections too.
@Suite struct TypeFidelityTests {
  static let values: [String: PropertyListValue] = [
    "b": true, "i": 1, "d": 1.0, "z": 0.0, "neg": .real(-0.0), "arr": .array([true, 1, 1.0]),
    "dict": .dictionary(["b": false, "i": 0, "d": 0.0]), "max": .integer(PropertyListInteger(UInt64.max)),
  ]

  @Test(arguments: [PropertyListFormat.xml, .binary]) func throughStoreAndExport(format: PropertyListFormat) throws {
    let fixture = Fixture()
    let list = fixture.list()
    for (key, value) in Self.values { list.set(value, forKey: key) }
    #expect(list.synchronize())
    let domain = try PersistentDomain(Fixture.domain, in: fixture.locations)
    let exported = try PropertyListCoding.encode(.dictionary(try #require(try domain.read())), as: format)
    let imported = try PropertyListCoding.decode(exported)
    #expect(imported == .dictionary(Self.values))
    try domain.change { $0 = [:] }
    try domain.change { $0 = imported.dictionaryValue ?? [:] }
    let read = fixture.list()
    for (key, value) in Self.values { #expect(read.value(key) == value, "\(key)") }
    if case .real(let zero)? = read.value("neg") { #expect(zero.sign == .minus) }
    let json = try PropertyListCoding.encode(.array([true, 1, 1.0]), as: .json)
    #expect(String(decoding: json, as: UTF8.self).filter { !$0.isWhitespace } == "[true,1,1.0]")
    if format == .xml {
      let text = String(decoding: exported, as: UTF8.self)
      #expect(text.contains("<true/>") && text.contains("<real>"))
    }
  }

  @Test func anotherTypeIsAnotherValue() {
    let list = Fixture().list()
    #expect(list.set(true, forKey: "k"))
    #expect(list.set(1, forKey: "k"))
    #expect(list.set(1.0, forKey: "k"))
    #expect(!list.set(1.0, forKey: "k"))
    #expect(list.value("k") == 1.0)
  }
}
