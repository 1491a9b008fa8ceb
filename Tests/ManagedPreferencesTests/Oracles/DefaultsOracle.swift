import Foundation
import PreferencesCore

@testable import ManagedPreferences

/// The tests of sindresorhus/Defaults, but for its synchronisation with a remote store. A typed key is a property here; each
/// row has a domain and, where its default matters, a class of its own.
struct DefaultsOracle: Oracle {
  static let file = "sindresorhus-Defaults"
  static func isOurs(_ id: String) -> Bool { !id.hasPrefix("sd-ic-") }

  enum Fixture: String { case tenMegabits, oneGigabit }

  final class Keys: Preferences {
    @Preference var key = false
    @Preference var other = false
    @Preference var optional: Bool?
    @Preference var url = URL(string: "https://sindresorhus.com")!
    @Preference(evaluatedAtEachRead: true) var date: Date = Keys.makeDate()
    @Preference(evaluatedAtEachRead: true) var dynamic: String? = Keys.makeText()
    @Preference var foo = "foo1"
    @Preference var bar = "foo2"
    @Preference var number = 0
    @Preference var answer = 42
    @Preference var registered = "registeredDefault"
    @Preference var members = ["0": "Hank"]
    @Preference var nested = ["0": ["0": "Hank"]]
    @Preference var lists = ["0": ["Hank", "Chen"]]
    @Preference var speed = Fixture.tenMegabits
    @Preference var speeds: [SpeedInArray] = [.tenMegabits]
    @Preference var numbers: [Int] = []
    @Preference var many: [String: Int] = [:]
    @Preference var deep: [String: [String: [String: Int]]] = [:]

    nonisolated(unsafe) static var evaluations = 0
    nonisolated(unsafe) static var text: String? = "dynamic"
    static func makeDate() -> Date {
      evaluations += 1
      return Date(timeIntervalSince1970: 0)
    }
    static func makeText() -> String? { text }
  }

  enum SpeedInArray: String, PreferenceValue { case tenMegabits, oneGigabit }

  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  mutating func observe(_ row: OracleRow) async throws -> Set<String>? {
    let defaults = sandbox.defaults("org.example.\(row.id)")
    if row.id == "sd-registers-bool" {
      let before = defaults.bool(forKey: "registeredFlag")
      final class Late: Preferences { @Preference var registeredFlag = true }
      _ = Late(userDefaults: defaults)
      let after = defaults.bool(forKey: "registeredFlag")
      return ["\(before)", "\(after) (declaring registers the default)"]
    }
    if row.id == "sd-register-visible" {
      let before = defaults.object(forKey: "registered")
      _ = Keys(userDefaults: defaults)
      return ["\(before ?? "nil")", defaults.string(forKey: "registered") ?? "nil"]
    }
    Keys.evaluations = 0
    Keys.text = "dynamic"
    let keys = quiet(Keys(userDefaults: defaults))
    if row.id.hasPrefix("sd-observe") { return changes(row, keys) }
    if row.id.hasPrefix("sd-updates") { return await updates(row, keys) }
    return values(row, keys, defaults) ?? collections(row, keys)
  }

  private func values(_ row: OracleRow, _ keys: Keys, _ defaults: ManagedDefaults) -> Set<String>? {
    let epoch = Date(timeIntervalSince1970: 0)
    switch row.id {
    case "sd-key":
      let before = keys.key
      keys.key = true
      return ["\(before)", "\(keys.key)"]
    case "sd-dynamic-lazy":
      return [Keys.evaluations == 0 ? "closure is not run at declaration" : "closure is run at declaration"]
    case "sd-url":
      let before = keys.url
      let other = URL(string: "https://example.com")!
      keys.url = other
      return [before.host() == "sindresorhus.com" && keys.url == other ? "round-trips" : "differs"]
    case "sd-dynamic-date":
      func text(_ date: Date?) -> String {
        date == epoch ? "epoch" : date == epoch + 1 ? "epoch+1" : "\(String(describing: date))"
      }
      let before = text(keys.date)
      keys.date = epoch + 1
      let seen = [before, text(keys.date), text(defaults.object(forKey: "date") as? Date)]
      keys.$date.reset()
      return seen == ["epoch", "epoch+1", "epoch+1"] ? [text(keys.date), "epoch+1"] : Set(seen + ["out of order"])
    case "sd-dynamic-optional-default":
      let first = keys.dynamic
      Keys.text = nil
      keys.$dynamic.reset()
      let reset = keys.dynamic
      keys.dynamic = "specific"
      let written = keys.dynamic
      keys.$dynamic.reset()
      return [
        first ?? "nil", "\(reset ?? "nil") after reset", "\(written ?? "nil") when written",
        "\(keys.dynamic ?? "nil") after reset",
      ]
    case "sd-reset-one", "sd-reset-many":
      keys.foo = "bar1"
      keys.bar = "bar2"
      keys.number = 1
      keys.$foo.reset()
      if row.id == "sd-reset-many" { keys.$bar.reset() }
      let isDefault = keys.foo == "foo1" && (keys.bar == "foo2") == (row.id == "sd-reset-many")
      return isDefault && keys.number == 1
        ? ["key1 default foo1", "key2 stays 1", "1,2 default", "3 unchanged"] : ["\(keys.foo) \(keys.bar)"]
    case "sd-default-again":
      keys.foo = "other"
      let other = keys.$foo.isDefaultValue
      keys.$foo.reset()
      let reset = keys.$foo.isDefaultValue
      keys.foo = "foo1"
      return [
        other ? "default" : "not default", reset ? "default" : "lost",
        keys.$foo.isDefaultValue && keys.$foo.isStored ? "default even though stored" : "not default as stored",
      ]
    case "sd-remove-object":
      let before = keys.answer
      keys.answer = 100
      let written = keys.answer
      defaults.removeObject(forKey: "answer")
      return before == 42 && written == 100 ? ["\(keys.answer)", "100"] : ["\(before) \(written)"]
    case "sd-removeall-defaults":
      keys.foo = "a"
      keys.answer = 1
      defaults.removePersistentDomain(forName: defaults.list.configuration.domain)
      return [keys.foo == "foo1" && keys.answer == 42 ? "both back to their registered defaults" : "not back"]
    case "sd-optional-no-register":
      return [defaults.object(forKey: "optional") == nil ? "nil (a nil default is not registered)" : "registered"]
    default: return nil
    }
  }

  private func collections(_ row: OracleRow, _ keys: Keys) -> Set<String>? {
    switch row.id {
    case "sd-dict":
      keys.members["0"] = "Chen"
      return [keys.members == ["0": "Chen"] ? "entry changed" : "\(keys.members)"]
    case "sd-dict-nested":
      keys.nested["0"]?["0"] = "Chen"
      return [keys.nested["0"]?["0"] ?? "nil"]
    case "sd-dict-array":
      keys.lists["0"]?[0] = "Chen"
      return [keys.lists["0"] == ["Chen", "Chen"] ? "[Chen, Chen]" : "\(keys.lists)"]
    case "sd-enum":
      keys.speed = .oneGigabit
      let stored = keys.userDefaults.string(forKey: "speed")
      return [keys.speed == .oneGigabit && stored == "oneGigabit" ? "stored raw value round-trips" : "\(keys.speed)"]
    case "sd-enum-array":
      keys.speeds.append(.oneGigabit)
      return [keys.speeds == [.tenMegabits, .oneGigabit] ? "both entries" : "\(keys.speeds)"]
    case "sd-concurrent-one":
      let number = keys.$number
      DispatchQueue.concurrentPerform(iterations: 1000) { number.value = $0 + 1 }
      return [(1...1000).contains(keys.number) ? "one of 1..1000, no crash" : "\(keys.number)"]
    case "sd-large-array":
      keys.numbers = Array(0..<10_000)
      return [keys.numbers == Array(0..<10_000) ? "equal" : "not equal"]
    case "sd-large-dict":
      let many = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("key\($0)", $0) })
      keys.many = many
      return [keys.many == many ? "equal" : "not equal"]
    case "sd-deep":
      keys.deep = ["a": ["b": ["c": 42]]]
      return ["\(keys.deep["a"]?["b"]?["c"] ?? 0)"]
    default: return nil
    }
  }

  private func changes(_ row: OracleRow, _ keys: Keys) -> Set<String>? {
    let told = Gathered<String>()
    func note<Value>(
      _ property: Preference<Value>.Property, initial: Bool = false, _ text: @escaping @Sendable (Value) -> String
    )
      -> PreferenceObservation
    {
      property.observe(initial: initial) { told.append("(\(text($0.oldValue))->\(text($0.newValue)))") }
    }
    switch row.id {
    case "sd-observe-bool":
      let observation = note(keys.$key) { "\($0)" }
      keys.key = true
      keys.$key.reset()
      observation.cancel()
      return [told.all.count == 2 ? "two events: \(told.all.joined(separator: ", "))" : "\(told.all)"]
    case "sd-observe-optional":
      let observation = note(keys.$optional) { $0.map { "\($0)" } ?? "nil" }
      keys.optional = true
      keys.optional = false
      keys.$optional.reset()
      observation.cancel()
      return [told.all.joined(separator: ",")]
    case "sd-observe-dynamic-date":
      let observation = note(keys.$date) { "d\(Int($0.timeIntervalSince1970))" }
      keys.date = Date(timeIntervalSince1970: 1)
      keys.date = Date(timeIntervalSince1970: 2)
      keys.$date.reset()
      observation.cancel()
      return [told.all.joined(separator: ",")]
    case "sd-observe-two":
      let observations = [note(keys.$key) { "\($0)" }, note(keys.$other) { "\($0)" }]
      keys.key = true
      keys.other = true
      for observation in observations { observation.cancel() }
      return ["\(told.all.count) events"]
    case "sd-observe-initial":
      let observation = note(keys.$key, initial: true) { "\($0)" }
      keys.key = true
      observation.cancel()
      return ["\(told.all.count) events"]
    default: return nil
    }
  }

  private func updates(_ row: OracleRow, _ keys: Keys) async -> Set<String>? {
    switch row.id {
    case "sd-updates":
      var values = keys.$key.values.makeAsyncIterator()
      _ = await values.next()
      keys.key = true
      return ["\(await values.next() ?? false) arrives"]
    case "sd-updates-multi":
      var iterators = [keys.$key, keys.$other].map { $0.values.makeAsyncIterator() }
      for index in iterators.indices { _ = await iterators[index].next() }
      keys.key = true
      keys.other = true
      var updates = 0
      for index in iterators.indices where await iterators[index].next() == true { updates += 1 }
      return ["\(updates) updates"]
    default: return nil
    }
  }
}
