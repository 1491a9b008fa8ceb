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
    let expected = Self.ordinary.merging([key: value]) { _, new in new }
    // Compared outside the expectations, which would print the megabytes.
    let isVisible = list.value(key) == value
    #expect(list.synchronize())
    let (isStillVisible, isStored) = (list.value(key) == value, fixture.stored() == expected)
    let isRead = fixture.list().dictionaryRepresentation() == expected
    // The next write carries it along.
    list.set(1, forKey: "another")
    #expect(list.synchronize())
    let isCarriedAlong = fixture.stored()?[key] == value
    #expect(isVisible && isStillVisible && isStored && isRead && isCarriedAlong)
  }

  /// Three values that each fit, and a domain that does not: one goes, by name, and no other key with it.
  @Test func aDomainBeyondTheLimit() throws {
    let fixture = Fixture()
    fixture.store(Self.ordinary)
    let list = fixture.list()
    let (first, second) = (Self.blob(1, megabytes: 22), Self.blob(2, megabytes: 22))
    list.set(first, forKey: "first")
    #expect(list.synchronize())
    // In one write: the next one has nothing to complain of.
    list.state.own.user.disk.lock()
    list.set(second, forKey: "second")
    list.set(Self.blob(3, megabytes: 23), forKey: "third")
    list.set(1, forKey: "last")
    list.state.own.user.disk.unlock()
    #expect(list.synchronize())
    let message =
      "the value of 'third' is lost, the domain would be too large: the whole has more than 67108864 bytes"
    #expect(list.faults.map(\.message) == [message])
    #expect(list.value("third") == nil)
    let expected = Self.ordinary.merging(["first": first, "second": second, "last": 1]) { _, new in new }
    // Not inside the expectation, which would print the megabytes.
    let isWhole = fixture.list().dictionaryRepresentation() == expected
    #expect(isWhole)
  }

  private static func blob(_ byte: UInt8, megabytes: Int) -> PropertyListValue {
    .data([UInt8](repeating: byte, count: megabytes << 20))
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
