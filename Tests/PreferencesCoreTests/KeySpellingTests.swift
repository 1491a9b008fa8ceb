import ForcedDomain
import PropertyList
import Testing

@testable import PreferencesCore

/// `é` is one code point or two; whoever asks in the other spelling gets the same answer.
@Suite struct KeySpellingTests {
  private static let composed = "caf\u{e9}"
  private static let decomposed = "cafe\u{301}"

  /// Keys of a test's own: which spelling a process met first is remembered.
  private static func keys(_ suffix: String) -> [String] { [composed + suffix, decomposed + suffix] }

  @Test(arguments: [0, 1]) func noSpellingGetsPastAForcedKey(forced: Int) {
    let fixture = Fixture()
    let keys = Self.keys("-forced-\(forced)")
    fixture.store([keys[1 - forced]: "user's", "other": 1])
    fixture.install([Fixture.Line(key: keys[forced], value: "forced")])
    let list = fixture.list()
    for key in keys {
      #expect(list.isForced(key))
      #expect(list.string(key) == "forced")
      #expect(list.resolution(of: key).value == "forced")
      #expect(list.resolution(of: key).isForced)
      list.set("mine", forKey: key)
      #expect(list.string(key) == "forced")
    }
    #expect(list.dictionaryRepresentation() == [keys[0]: "forced", "other": 1])
    #expect(!list.isForced("cafe-forced-\(forced)"))
  }

  @Test func whatIsSetInOneSpellingIsReadAndRemovedInTheOther() {
    let fixture = Fixture()
    let keys = Self.keys("-set")
    let list = fixture.list()
    for (set, read) in [(keys[0], keys[1]), (keys[1], keys[0])] {
      list.set(.string(set), forKey: set)
      #expect(list.string(read) == set)
      list.set(.string(read), forKey: read)
      #expect(list.string(set) == read)
      #expect(list.dictionaryRepresentation().count == 1)
      #expect(list.synchronize())
      #expect(fixture.stored()?.count == 1)
      list.removeValue(forKey: read)
      #expect(list.value(set) == nil && list.value(read) == nil)
    }
  }

  /// The application's own spelling and that of the global domain: one key, and the nearer value.
  @Test func layersAgree() {
    let fixture = Fixture()
    let keys = Self.keys("-layers")
    fixture.store([keys[1]: 1])
    fixture.store([keys[0]: 2], GlobalDomain.name)
    let list = fixture.list()
    list.register([keys[0]: 3])
    #expect(keys.map { list.integer($0) } == [1, 1])
    #expect(list.dictionaryRepresentation() == [keys[0]: 1])
    list.removeValue(forKey: keys[0])
    #expect(keys.map { list.integer($0) } == [2, 2])
  }

  @Test(arguments: [0, 1]) func aDomainIsForcedInEverySpelling(forced: Int) {
    let fixture = Fixture()
    let domains = Self.keys("-domain")
    fixture.install([Fixture.Line(domain: domains[forced], key: "k", value: 1)])
    for domain in domains {
      let list = fixture.list(domain)
      #expect(list.isForced("k"))
      #expect(list.integer("k") == 1)
    }
  }

  /// ASCII has no other spelling: a Kelvin sign is no K.
  @Test func asciiIsItself() {
    let fixture = Fixture()
    fixture.install([Fixture.Line(key: "K", value: 1), Fixture.Line(key: "\u{37e}", value: 2)])
    let list = fixture.list()
    #expect(list.isForced("K") && list.isForced("\u{37e}"))
    #expect(!list.isForced("\u{212a}") && !list.isForced(";"))
  }

  @Test func whatIsASCIIIsToldAtEveryLength() {
    for count in 0...40 {
      for place in 0..<max(1, count) {
        var bytes = [UInt8](repeating: 0x7f, count: count)
        let isASCII = bytes.withUnsafeBytes {
          KeySpelling.isASCII($0.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!, count)
        }
        #expect(isASCII)
        if count == 0 { continue }
        bytes[place] = 0x80
        #expect(!bytes.withUnsafeBytes { KeySpelling.isASCII($0.baseAddress!, count) }, "\(count), \(place)")
      }
    }
  }
}
