import Foundation
import PreferencesCore
import PropertyList
import Testing

@testable import ManagedPreferences

/// What properties hold, and what is stored for them.
@Suite struct TypedValueTests {
  let sandbox: Sandbox
  let defaults: ManagedDefaults
  let prefs: Prefs

  init() throws {
    sandbox = try Sandbox()
    defaults = sandbox.defaults()
    prefs = Prefs(userDefaults: defaults)
    prefs.shouldAutomaticallySynchronize = false
  }

  private func stored(_ key: String) -> PropertyListValue? { defaults.list.value(key) }

  @Test func propertiesOfAllClassesAreThere() {
    prefs.name = "alice"
    prefs.kids.append("jack")
    prefs.title = "yesterday"
    prefs.count += 1
    #expect(defaults.string(forKey: "name") == "alice")
    #expect(defaults.stringArray(forKey: "kids") == ["jack"])
    #expect(defaults.string(forKey: "KEY_TITLE") == "yesterday")
    #expect(defaults.object(forKey: "title") == nil)
    #expect(defaults.integer(forKey: "count") == 6)
    #expect(prefs.$title.key == "KEY_TITLE" && prefs.$count.key == "count")
  }

  /// One line for each type: assign, read again with another object, and look at what is stored.
  @Test func everyTypeInItsForm() throws {
    let url = try #require(URL(string: "http://apple.com"))
    let identifier = UUID()
    prefs.small = -7
    prefs.large = .max
    prefs.height = 4.2
    prefs.width = 4.2
    prefs.isOpen = false
    prefs.born = Date(timeIntervalSinceReferenceDate: 12.5)
    prefs.token = Data("hello".utf8)
    prefs.site = url
    prefs.shares = ["a": 1, "b": 0.5]
    prefs.matrix = [[1, 2], []]
    prefs.tools = [.ruler, .compass]
    prefs.toolOfRoom = ["12": .pen]
    prefs.theme = .dark
    prefs.style = [Style(rawValue: 1), Style(rawValue: 4)]
    prefs.level = .high
    prefs.address = Address(street: "Side St", floor: 3)
    prefs.addresses = [Address(street: "A"), Address(street: "B")]
    prefs.identifier = identifier
    prefs.number = 24.5
    prefs.span = Span(3, 4)
    prefs.maybeTheme = .dark
    prefs.maybeAddress = Address(street: "C")
    prefs.maybeSpan = Span(5, 6)
    prefs.maybeShares = ["c": 2]

    #expect(stored("small") == .integer(-7))
    #expect(stored("large") == .integer(PropertyListInteger(UInt64.max)))
    #expect(stored("height") == .real(Double(Float(4.2))))
    #expect(stored("width") == .real(4.2))
    #expect(stored("isOpen") == .boolean(false))
    #expect(stored("born") == .date(PropertyListDate(secondsSinceReferenceDate: 12.5)))
    #expect(stored("token") == .data(Array("hello".utf8)))
    #expect(stored("shares") == .dictionary(["a": .real(1), "b": .real(0.5)]))
    #expect(stored("matrix") == .array([.array([.integer(1), .integer(2)]), .array([])]))
    #expect(stored("tools") == .array([.string("ruler"), .string("compass")]))
    #expect(stored("toolOfRoom") == .dictionary(["12": .string("pen")]))
    #expect(stored("theme") == .string("dark"))
    #expect(stored("style") == .integer(5))
    #expect(stored("level") == .integer(7))
    #expect(
      stored("address")
        == .dictionary(["street": .string("Side St"), "city": .string("Venice"), "floor": .integer(3)]))
    #expect(stored("addresses")?.arrayValue?.count == 2)
    #expect(stored("identifier") == .string(identifier.uuidString))
    #expect(stored("number")?.dataValue != nil, "an archive")
    #expect(stored("span")?.dataValue != nil, "an archive")
    #expect(defaults.url(forKey: "site") == url)

    #expect(defaults.synchronize())
    let again = Prefs(userDefaults: sandbox.defaults())
    #expect(again.small == -7 && again.large == .max && again.height == 4.2 && again.width == 4.2 && !again.isOpen)
    #expect(again.born == Date(timeIntervalSinceReferenceDate: 12.5) && again.token == Data("hello".utf8))
    #expect(again.site == url && again.shares == ["a": 1, "b": 0.5] && again.matrix == [[1, 2], []])
    #expect(again.tools == [.ruler, .compass] && again.toolOfRoom == ["12": .pen] && again.theme == .dark)
    #expect(again.style == [Style(rawValue: 1), Style(rawValue: 4)] && again.level == .high)
    #expect(again.address == Address(street: "Side St", floor: 3))
    #expect(again.addresses == [Address(street: "A"), Address(street: "B")] && again.identifier == identifier)
    #expect(again.number == 24.5 && again.span == Span(3, 4))
    #expect(again.maybeTheme == .dark && again.maybeAddress == Address(street: "C"))
    #expect(again.maybeSpan == Span(5, 6) && again.maybeShares == ["c": 2])
  }

  @Test func defaultsAreRead() {
    #expect(prefs.name == nil && prefs.kids == [] && prefs.title == "untitled" && prefs.isOpen && prefs.count == 5)
    #expect(prefs.site == URL(string: "https://lab.example/") && prefs.address == Address(street: "Main St"))
    #expect(prefs.number == 23 && prefs.span == Span(0, 1) && prefs.maybeDefault == "default")
    #expect(prefs.maybeCount == nil && prefs.maybeTheme == nil && prefs.maybeAddress == nil && prefs.maybeSpan == nil)
  }

  /// A default is registered under a key that has none; a later explicit registration wins; the first declaration stays.
  @Test func defaultsAreRegistered() {
    #expect(defaults.integer(forKey: "count") == 5)
    #expect(defaults.object(forKey: "name") == nil)
    defaults.register(defaults: ["count": 8])
    #expect(prefs.count == 8 && prefs.$count.isDefaultValue)
    _ = Prefs(userDefaults: defaults)
    #expect(prefs.count == 8)
    defaults.removeVolatileDomain(forName: UserDefaults.registrationDomain)
    #expect(prefs.count == 5, "the declaration is still there")
  }

  @Test func nilRemovesTheKey() {
    prefs.maybeCount = 0
    prefs.maybeFlag = false
    #expect(prefs.maybeCount == 0 && prefs.maybeFlag == false && prefs.$maybeFlag.isStored)
    prefs.maybeCount = nil
    prefs.maybeFlag = nil
    #expect(prefs.maybeCount == nil && prefs.maybeFlag == nil && !prefs.$maybeFlag.isStored)
    #expect(defaults.object(forKey: "maybeCount") == nil && defaults.object(forKey: "maybeFlag") == nil)
  }

  /// Values that others stored, converted as the getters convert; the default where those have no conversion.
  @Test func othersValuesAreConverted() {
    defaults.set("42 km", forKey: "count")
    #expect(prefs.count == 42)
    defaults.set(true, forKey: "count")
    #expect(prefs.count == 1)
    defaults.set(2.9, forKey: "count")
    #expect(prefs.count == 2)
    defaults.set("abc", forKey: "count")
    #expect(prefs.count == 0, "as integer(forKey:) says")
    for wrong: Any in [Date(), Data([1]), [1], ["a": 1]] {
      defaults.set(wrong, forKey: "count")
      #expect(prefs.count == 5, "\(wrong)")
    }
    defaults.set(300, forKey: "small")
    #expect(prefs.small == 127)
    defaults.set("YES", forKey: "isOpen")
    #expect(prefs.isOpen)
    defaults.set(0, forKey: "isOpen")
    #expect(!prefs.isOpen)
    defaults.set([0], forKey: "isOpen")
    #expect(prefs.isOpen)
    defaults.set(3.7 as Float, forKey: "KEY_TITLE")
    #expect(prefs.title == "3.7")
    defaults.set(Data(), forKey: "KEY_TITLE")
    #expect(prefs.title == "untitled")
    defaults.set(["a", 1], forKey: "kids")
    #expect(prefs.kids == [])
    defaults.set("a", forKey: "kids")
    #expect(prefs.kids == [])
    defaults.set(["a": 1, "b": 2.5], forKey: "shares")
    #expect(prefs.shares == ["a": 1, "b": 2.5])
    defaults.set(["a": "1"], forKey: "shares")
    #expect(prefs.shares == [:])
    defaults.set("sepia", forKey: "theme")
    #expect(prefs.theme == .light)
    defaults.set(["pen", "axe"], forKey: "tools")
    #expect(prefs.tools == [.pen])
    defaults.set("dark", forKey: "address")
    #expect(prefs.address == Address(street: "Main St"))
    defaults.set(Data([1, 2, 3]), forKey: "span")
    #expect(prefs.span == Span(0, 1))
    defaults.set(7, forKey: "number")
    #expect(prefs.number == 7, "somebody else's plain number")
    defaults.set("7", forKey: "maybeDate")
    #expect(prefs.maybeDate == nil)
  }

  @Test func aDynamicDefaultIsEvaluatedAtEachRead() throws {
    final class Clocked: Preferences {
      nonisolated(unsafe) static var now = 1
      @Preference("seen", evaluatedAtEachRead: true) var seen: Int = Clocked.now
    }
    let clocked = Clocked(userDefaults: defaults)
    #expect(defaults.object(forKey: "seen") == nil)
    Clocked.now = 2
    #expect(clocked.seen == 2 && clocked.$seen.isDefaultValue)
    clocked.seen = 9
    Clocked.now = 3
    #expect(clocked.seen == 9)
    clocked.$seen.reset()
    #expect(clocked.seen == 3)
  }

  @Test func keysByARule() throws {
    final class Prefixed: Preferences {
      @Preference var color: String?
      @Preference("plain") var other: Int = 0
      override class func key(forProperty property: String) -> String { "editor.\(property)" }
      override class var unstoredProperties: Set<String> { ["cache", "later"] }
      var cache = 0
      lazy var later = 1
    }
    let prefixed = Prefixed(userDefaults: defaults)
    prefixed.color = "red"
    prefixed.other = 2
    #expect(defaults.string(forKey: "editor.color") == "red" && defaults.integer(forKey: "plain") == 2)
    #expect(prefixed.$firstVersionInstalled.key == "editor.firstVersionInstalled")
  }
}
