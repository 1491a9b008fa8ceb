import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

/// Domains and values of unusual sizes: all kept, beside two hundred ordinary keys.
@Suite struct LargeDomainTests {
  static let ordinary = Dictionary(
    uniqueKeysWithValues: (0..<200).map { ("small\($0)", PropertyListValue.integer(PropertyListInteger($0))) })

  static let deep: PropertyListValue = (0..<200).reduce("the innermost") { value, level in
    level % 2 == 0 ? .array([value]) : .dictionary(["level": value])
  }

  @Test(arguments: [
    ("blob", PropertyListValue.data([UInt8](repeating: 7, count: 5_000_000))),
    ("text", PropertyListValue.string(String(repeating: "ü", count: 2_500_000))),
    (String(repeating: "k", count: 10_000), PropertyListValue.string("a key of ten thousand characters")),
    (String(repeating: "ü", count: 10_000), PropertyListValue.string("and one of twenty thousand bytes")),
    ("deep", deep),
  ])
  func oneUnusualValue(key: String, value: PropertyListValue) {
    let fixture = Fixture()
    fixture.store(Self.ordinary)
    let list = fixture.list()
    list.set(value, forKey: key)
    #expect(list.value(key) == value)
    #expect(list.synchronize())
    #expect(list.value(key) == value)
    let expected = Self.ordinary.merging([key: value]) { _, new in new }
    #expect(fixture.stored() == expected)
    #expect(fixture.list().dictionaryRepresentation() == expected)
    // The next write carries it along.
    list.set(1, forKey: "another")
    #expect(list.synchronize())
    #expect(fixture.stored()?[key] == value)
  }

  @Test func aHundredThousandKeys() {
    let fixture = Fixture()
    fixture.store(Self.ordinary)
    let list = fixture.list()
    let count = 100_000
    for number in 0..<count { list.set(.integer(PropertyListInteger(number)), forKey: "key\(number)") }
    #expect((0..<count).allSatisfy { list.integer("key\($0)") == $0 })
    #expect(list.synchronize())
    #expect((0..<count).allSatisfy { list.integer("key\($0)") == $0 })
    #expect((0..<200).allSatisfy { list.integer("small\($0)") == $0 })
    let stored = fixture.stored() ?? [:]
    #expect(stored.count == count + 200)
    list.removeValue(forKey: "key0")
    #expect(list.synchronize())
    #expect(fixture.stored()?.count == count + 199)
  }
}
