import AuditEvents
import Foundation
import PropertyList
import Synchronization
import Testing

@testable import ManagedPreferences

/// What properties tell about an administrator's values.
@Suite struct TypedForcedTests {
  let sandbox: Sandbox
  init() throws { sandbox = try Sandbox() }

  /// Native values of a policy reach the properties of all kinds.
  @Test func forcedValuesReachTheProperties() throws {
    try sandbox.install([
      .init("kids", .array([.string("jack"), .string("jill")])), .init("count", .integer(7)),
      .init("isOpen", .boolean(false)), .init("theme", .string("dark")), .init("tools", .array([.string("ruler")])),
      .init("shares", .dictionary(["a": .integer(1)])), .init("site", .string("https://forced.example/")),
      .init("address", .dictionary(["street": .string("Forced St"), "city": .string("Oslo")])),
      .init("number", .integer(3)), .init("level", .integer(7)), .init("width", .integer(4)),
    ])
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
    #expect(prefs.kids == ["jack", "jill"] && prefs.count == 7 && !prefs.isOpen && prefs.theme == .dark)
    #expect(prefs.tools == [.ruler] && prefs.shares == ["a": 1] && prefs.number == 3 && prefs.level == .high)
    #expect(prefs.site == URL(string: "https://forced.example/") && prefs.width == 4)
    #expect(prefs.address == Address(street: "Forced St", city: "Oslo"))
    #expect(prefs.$kids.isForced && prefs.$count.isForced && !prefs.$name.isForced)
    #expect(
      prefs.$kids.forcedBy.map { [$0.profile, $0.title, "\($0.generation)"] }
        == [["org.example.lab.exam", "Exam mode", "1"]])
    #expect(prefs.$name.forcedBy.isEmpty)
  }

  /// Stored underneath, read unchanged, one event; the value is there when the key is released.
  @Test func assigningAForcedProperty() throws {
    let events = Gathered<AuditEvent>()
    struct Sink: AuditEventSink {
      let events: Gathered<AuditEvent>
      func send(_ event: AuditEvent) { events.append(event) }
    }
    try sandbox.install([.init("name", .string("forced"))])
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults(sink: Sink(events: events))))
    prefs.name = "mine"
    #expect(prefs.name == "forced" && prefs.$name.isStored)
    #expect(events.all.map(\.kind) == [.forcedWrite])
    prefs.name = nil
    #expect(prefs.name == "forced" && !prefs.$name.isStored)
    #expect(events.all.map(\.kind) == [.forcedWrite, .forcedWrite])
    prefs.name = "later"
    #expect(prefs.synchronize())
    try sandbox.install([], generation: 2)
    #expect(prefs.synchronize())
    #expect(prefs.name == "later" && !prefs.$name.isForced)
  }

  @Test func storedAndDefault() {
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
    #expect(!prefs.$count.isStored && prefs.$count.isDefaultValue)
    prefs.count = 6
    #expect(prefs.$count.isStored && !prefs.$count.isDefaultValue)
    prefs.count = 5
    #expect(prefs.$count.isStored && prefs.$count.isDefaultValue)
    prefs.$count.reset()
    #expect(!prefs.$count.isStored && prefs.count == 5)
    #expect(prefs.$name.isDefaultValue)
    prefs.name = ""
    #expect(!prefs.$name.isDefaultValue && prefs.$name.isStored)
  }

  /// D04: a missing key is told from a stored false or 0, and a default of true is read.
  @Test func d04_missingIsNotFalse() {
    let defaults = sandbox.defaults()
    #expect(!defaults.bool(forKey: "isOpen"))
    let prefs = quiet(Prefs(userDefaults: defaults))
    #expect(prefs.isOpen && !prefs.$isOpen.isStored && prefs.maybeFlag == nil)
    prefs.isOpen = false
    prefs.maybeFlag = false
    #expect(!prefs.isOpen && prefs.$isOpen.isStored && prefs.maybeFlag == false)
    defaults.removePersistentDomain(forName: Sandbox.application)
    #expect(prefs.isOpen && !prefs.$isOpen.isStored && prefs.maybeFlag == nil)
  }

  /// D08: nil removes the key, for a string, a coded value, and one with a default; on a forced key it changes nothing.
  @Test func d08_nilLeavesNothing() throws {
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
    prefs.name = "abc"
    prefs.maybeAddress = Address(street: "A")
    prefs.maybeDefault = "other"
    prefs.maybeSpan = Span(1, 2)
    prefs.name = nil
    prefs.maybeAddress = nil
    prefs.maybeDefault = nil
    prefs.maybeSpan = nil
    #expect(prefs.name == nil && prefs.maybeAddress == nil && prefs.maybeDefault == "default" && prefs.maybeSpan == nil)
    #expect(!prefs.$maybeDefault.isStored)
    #expect(prefs.synchronize())
    #expect(sandbox.defaults().persistentDomain(forName: Sandbox.application) == nil, "nothing in the file")

    try sandbox.install([.init("name", .string("forced"))])
    #expect(prefs.synchronize())
    prefs.name = nil
    #expect(prefs.name == "forced")
  }
}
