import Foundation
import Synchronization

@testable import ManagedPreferences

/// GNUstep's tests of `NSUserDefaults`. Each row goes on where the one before it ended, with the counts by then.
///
/// Its key-value observers, with the options new, old, prior and initial, are observers of single keys here.
final class GNUstepOracle: Oracle {
  static let file = "gnustep-NSUserDefaults"

  private let sandbox: Sandbox
  private let defaults: ManagedDefaults
  private let told = Changes()
  private var observations: [PreferenceObservation] = []
  private let posted = Notifications()
  private var token: (any NSObjectProtocol)?

  private final class Changes: Sendable {
    let all = Mutex<[PreferenceChange]>([])
    var count: Int { all.withLock(\.count) }
    /// What the last change told: just before it and after it.
    var prior: PreferenceChange? { all.withLock { $0.dropLast().last } }
    var after: PreferenceChange? { all.withLock(\.last) }
  }

  private final class Notifications: Sendable {
    let count = Mutex(0)
  }

  init() throws {
    sandbox = try Sandbox()
    defaults = sandbox.defaults()
    token = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
    ) { [posted] _ in posted.count.withLock { $0 += 1 } }
    observations = ["Bool", "Int", "Str"].map { name in
      defaults.observe("Test Suite \(name)", options: [.initial, .prior]) { [told] change in
        told.all.withLock { $0.append(change) }
      }
    }
  }

  deinit { if let token { NotificationCenter.default.removeObserver(token) } }

  func observe(_ row: OracleRow) throws -> Set<String>? {
    if row.id.hasPrefix("gs-notify-") { return notifications(of: row) }
    guard var seen = change(row) else { return nil }
    seen.insert("notification count \(posted.count.withLock { $0 })")
    seen.insert("KVO count \(told.count)")
    return seen
  }

  private func change(_ row: OracleRow) -> Set<String>? {
    switch row.id {
    case "gs-languages":
      return [defaults.array(forKey: "NSLanguages") == nil ? "nil" : "not nil"]
    case "gs-set-bool":
      defaults.set(true, forKey: "Test Suite Bool")
      return [
        "\(defaults.bool(forKey: "Test Suite Bool"))",
        defaults.object(forKey: "Test Suite Bool") is NSNumber ? "object is a number" : "object is no number",
        "KVO count \(told.count)"
          + (told.prior?.isPrior == true && told.after?.kind == .change ? " (prior + after)" : ""),
      ]
    case "gs-set-bool-kvo-prior":
      guard let prior = told.prior, prior.key == "Test Suite Bool" else { return [] }
      return [
        "old = \(text(prior.oldValue))", prior.newValue == nil ? "new absent" : "new there",
        "isPrior = \(prior.isPrior ? "YES" : "NO")",
        // A setting, as opposed to a change of a collection's elements: there are no others here.
        "kind setting",
      ]
    case "gs-set-int-kvo":
      defaults.set(34, forKey: "Test Suite Int")
      guard let prior = told.prior, let after = told.after, after.kind == .change else { return [] }
      return [
        "prior: old \(text(prior.oldValue)), isPrior \(prior.isPrior ? "YES" : "NO")",
        "after: old \(text(after.oldValue)), new number \(text(after.newValue))",
      ]
    case "gs-set-str":
      defaults.set("SetString", forKey: "Test Suite Str")
      return [
        "\"\(defaults.string(forKey: "Test Suite Str") ?? "nil")\"",
        defaults.object(forKey: "Test Suite Str") is String ? "object is a string" : "object is no string",
      ]
    case "gs-remove-bool":
      defaults.removeObject(forKey: "Test Suite Bool")
      return [defaults.object(forKey: "Test Suite Bool") == nil ? "nil" : "not nil"]
    case "gs-remove-bool-kvo":
      guard let prior = told.prior, let after = told.after, after.kind == .change else { return [] }
      return [
        "prior: old = number \(text(prior.oldValue)), new \(prior.newValue == nil ? "absent" : "there"), "
          + "isPrior \(prior.isPrior ? "YES" : "NO")",
        "after: old = number \(text(after.oldValue)), new = \(text(after.newValue))",
      ]
    case "gs-set-nil":
      defaults.set(nil as Any?, forKey: "Test Suite Int")
      let isNil = defaults.object(forKey: "Test Suite Int") == nil
      guard let prior = told.prior, prior.isPrior, let after = told.after, after.kind == .change else { return [] }
      return [
        isNil ? "nil (nil set removes)" : "not nil",
        "prior old \(text(prior.oldValue)); after new \(text(after.newValue))",
      ]
    default:
      return nil
    }
  }

  /// The rows that count what a single call posts.
  private func notifications(of row: OracleRow) -> Set<String>? {
    posted.count.withLock { $0 = 0 }
    let domain: [String: Any] = ["NotifyKey": "value"]
    var seen: Set<String> = []
    switch row.id {
    case "gs-notify-register":
      defaults.register(defaults: domain)
      seen.insert("stringForKey NotifyKey = \"\(defaults.string(forKey: "NotifyKey") ?? "nil")\"")
    case "gs-notify-setvolatile": defaults.setVolatileDomain(domain, forName: "NotifyVolatile")
    case "gs-notify-removevolatile": defaults.removeVolatileDomain(forName: "NotifyVolatile")
    case "gs-notify-removesuite": defaults.removeSuite(named: "NotifySuite")
    // Foundation's class has no `setSearchList`.
    default: return nil
    }
    seen.insert("count \(posted.count.withLock { $0 })")
    return seen
  }

  private func text(_ value: (any Sendable)?) -> String {
    switch value {
    case nil: "null"
    case let flag as Bool: flag ? "YES" : "NO"
    case let number as Int: "\(number)"
    case let value?: "\(type(of: value)) \(value)"
    }
  }
}
