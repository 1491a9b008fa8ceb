import Foundation

@testable import ManagedPreferences

/// PAPreferences' tests. Its properties over the standard defaults are properties over a sandbox's; its key-value observers
/// are `$property.observe`. Each row has an object of its own.
struct PAPreferencesOracle: Oracle {
  static let file = "PAPreferences"

  final class Mine: Preferences {
    @Preference var username: String?
    @Preference var kids: [String]?
    @Preference var picture: Data?
    @Preference var address: [String: String]?
    @Preference var height: Float = 0
    @Preference var age: NSNumber?
    @Preference var site: URL?
    @Preference("KEY_TITLE") var title: String?
    @Preference var hasSeenIntro = false
    @Preference var range: Span?
    @Preference private var name: String?

    var nickname: String? { username }
    func become(_ name: String?) { self.name = name }
    var handle: String? { name }
  }

  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  mutating func observe(_ row: OracleRow) throws -> Set<String>? {
    let defaults = sandbox.defaults("org.example.\(row.id)")
    let mine = quiet(Mine(userDefaults: defaults))
    let hello = Data("hello".utf8)
    let home = ["street": "Main St", "city": "Venice"]
    let apple = URL(string: "http://apple.com")
    func text(_ data: Data?) -> String { data == hello ? "\"hello\" bytes" : "\(String(describing: data))" }
    func text(_ address: [String: String]?) -> String {
      address == home ? "{street: Main St, city: Venice}" : "\(String(describing: address))"
    }
    switch row.id {
    case "pa-array-persist":
      mine.kids = ["jack", "jill"]
      return [Self.text(defaults.object(forKey: "kids") as? [String])]
    case "pa-data-persist":
      mine.picture = hello
      return [text(defaults.data(forKey: "picture"))]
    case "pa-data-read":
      mine.picture = hello
      return [text(mine.picture)]
    case "pa-dictionary-persist":
      mine.address = home
      return [text(defaults.object(forKey: "address") as? [String: String])]
    case "pa-dictionary-read":
      mine.address = home
      return [text(mine.address)]
    case "pa-float-persist":
      mine.height = 4.2
      return ["\(defaults.float(forKey: "height"))"]
    case "pa-float-read":
      mine.height = 4.2
      return ["\(mine.height)"]
    case "pa-string-read":
      mine.username = "alice"
      return ["\"\(mine.username ?? "nil")\""]
    case "pa-number-read":
      mine.age = 23
      return ["@\(mine.age ?? 0)"]
    case "pa-url-persist":
      mine.site = apple
      return [defaults.url(forKey: "site")?.absoluteString ?? "nil"]
    case "pa-url-read":
      mine.site = apple
      return [mine.site?.absoluteString ?? "nil"]
    case "pa-renamed-persist":
      mine.title = "yesterday"
      return [defaults.string(forKey: "KEY_TITLE") ?? "nil"]
    case "pa-external-write":
      defaults.set("bob", forKey: "username")
      return [mine.nickname ?? "nil"]
    case "pa-nil-removes":
      mine.username = "alice"
      mine.username = nil
      return [mine.username == nil && defaults.object(forKey: "username") == nil ? "nil" : "still there"]
    case "pa-custom-setter":
      mine.become("joe")
      return [defaults.string(forKey: "name") ?? "nil"]
    case "pa-custom-getter":
      mine.become("joe")
      return [mine.handle ?? "nil"]
    case "pa-notify", "pa-notify-userinfo": return notification(of: row, mine)
    default: return change(row, mine)
    }
  }

  private static func text(_ kids: [String]?) -> String {
    "[" + (kids ?? []).map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }

  private func notification(of row: OracleRow, _ mine: Mine) -> Set<String> {
    let told = Gathered<String>()
    let name = Preferences.didChangeNotification
    let token = NotificationCenter.default.addObserver(forName: name, object: mine, queue: nil) { notification in
      told.append(notification.userInfo?[Preferences.changedPropertyKey] as? String ?? "nil")
    }
    defer { NotificationCenter.default.removeObserver(token) }
    mine.username = "jack"
    guard let property = told.all.first else { return [] }
    return ["observer called synchronously", "userInfo changed-property key = \"\(property)\""]
  }

  private func change(_ row: OracleRow, _ mine: Mine) -> Set<String>? {
    switch row.id {
    case "pa-kvo-array":
      changes(mine.$kids, ["tom", "jerry"], ["jack", "jill"]) { Self.text($0) }
    case "pa-kvo-bool": changes(mine.$hasSeenIntro, false, true) { $0 ? "YES" : "NO" }
    case "pa-kvo-float": changes(mine.$height, 4.1, 4.2) { "\($0)" }
    case "pa-kvo-string": changes(mine.$username, "alice", "bob") { $0 ?? "nil" }
    case "pa-kvo-number": changes(mine.$age, 1, 2) { "\($0 ?? 0)" }
    case "pa-kvo-url":
      changes(mine.$site, URL(string: "http://google.com"), URL(string: "http://apple.com")) {
        $0?.absoluteString ?? ""
      }
    case "pa-kvo-coded-object":
      changes(mine.$range, Span(0, 1), Span(0, 2)) { $0.map { "range(\($0.location),\($0.length))" } ?? "nil" }
    case "pa-kvo-data":
      changes(mine.$picture, nil, Data("hello".utf8)) { $0 == Data("hello".utf8) ? "\"hello\" bytes" : "other" }
    default: nil
    }
  }

  /// Sets a value, observes, sets another, and tells what the observer was told.
  private func changes<Value>(
    _ property: Preference<Value>.Property, _ old: Value, _ new: Value, _ text: @escaping (Value) -> String
  ) -> Set<String> {
    property.value = old
    let told = Gathered<Preference<Value>.Change>()
    let observation = property.observe { told.append($0) }
    property.value = new
    observation.cancel()
    return Set(told.all.flatMap { ["old = \(text($0.oldValue))", "new = \(text($0.newValue))"] })
  }
}
