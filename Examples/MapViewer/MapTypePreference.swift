import Foundation
import ManagedPreferences

/// The map type as a preference: a registered default, the user's stored choice, and what an administrator forces.
struct MapTypePreference {
  static let key = "MapType"
  let defaults: ManagedDefaults

  init(defaults: ManagedDefaults) {
    self.defaults = defaults
    // Before anyone reads: what holds where nobody has chosen.
    defaults.register(defaults: [Self.key: MapType.standard.rawValue])
  }

  /// The text in the preference, which need not be a type that this version knows.
  var text: String { defaults.string(forKey: Self.key) ?? "" }

  /// The type to show: an unknown one falls back to the standard map.
  var mapType: MapType { MapType(rawValue: text) ?? .standard }

  /// Who decides instead of the user; nil where the user's choice counts.
  var lock: Lock? {
    guard defaults.objectIsForced(forKey: Self.key) else { return nil }
    return Lock(forcedBy: defaults.forcedBy(Self.key))
  }

  /// Stores the user's choice. Refused while it is forced: the control is greyed out, and a choice would have no effect.
  func choose(_ type: MapType) throws(Lock) {
    if let lock { throw lock }
    defaults.set(type.rawValue, forKey: Self.key)
  }
}

/// What the label beside a locked control says.
struct Lock: Error, Equatable {
  var titles: [String]
  var until: Date?

  init(titles: [String], until: Date?) {
    self.titles = titles
    self.until = until
  }

  init(forcedBy profiles: [ForcedBy]) {
    self.init(titles: profiles.map(\.title), until: profiles.compactMap(\.until).min())
  }

  /// `locked by "Exam mode" until 11:30`, in this machine's time.
  func label(now: Date = Date(), calendar: Calendar = .current) -> String {
    guard !titles.isEmpty else { return "locked: the settings of the administrator can't be read" }
    let names = titles.map { "\"\($0)\"" }.joined(separator: " and ")
    guard let until else { return "locked by \(names)" }
    return "locked by \(names) until \(Self.clock(until, now: now, calendar: calendar))"
  }

  /// The time alone for today, with the week day within a week, otherwise with the date.
  private static func clock(_ moment: Date, now: Date, calendar: Calendar) -> String {
    let parts = calendar.dateComponents([.year, .month, .day, .weekday, .hour, .minute], from: moment)
    func digits(_ number: Int?, _ width: Int = 2) -> String {
      let text = String(number ?? 0)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let time = "\(digits(parts.hour)):\(digits(parts.minute))"
    if calendar.isDate(moment, inSameDayAs: now) { return time }
    if moment.timeIntervalSince(now) < 6 * 86_400 {
      return "\(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][(parts.weekday ?? 1) - 1]) \(time)"
    }
    return "\(digits(parts.year, 4))-\(digits(parts.month))-\(digits(parts.day)) \(time)"
  }
}
