import CommandLineKit
import ForcedDomain
import LinuxFiles

/// A condition in words: where, for whom, when.
enum ConditionText {
  /// `hosts lab-a, lab-b except lab-a-17; users students; Tue 09:00–11:30 Europe/Berlin; until 2026-12-24T22:59:59Z`;
  /// empty for "always".
  static func text(_ condition: Condition) -> String {
    var parts: [String] = []
    for outer in condition.within {
      let text = text(outer)
      if !text.isEmpty { parts.append(text) }
    }
    if let hosts = condition.hosts { parts.append(self.hosts(hosts)) }
    if let users = condition.users { parts.append(self.users(users)) }
    if !condition.windows.isEmpty { parts.append(condition.windows.map(window).joined(separator: " or ")) }
    if let end = condition.notAfter { parts.append("until \(InstantText.rfc3339(end))") }
    return parts.joined(separator: "; ")
  }

  static func hosts(_ selector: HostSelector) -> String {
    list("host", selector.include.map(name), except: selector.exclude.map(name), all: "every host")
  }

  static func users(_ selector: UserSelector) -> String {
    list("user", selector.include.map(name), except: selector.exclude.map(name), all: "everyone")
  }

  /// `Mon–Fri 09:00–11:30 Europe/Berlin, 2026-12-01 to 2026-12-18`.
  static func window(_ window: WeeklyWindow) -> String {
    var text = "\(days(window.days)) \(clock(window.fromMinute))–\(clock(window.toMinute)) \(window.timeZone)"
    switch (window.firstDay, window.lastDay) {
    case (let first?, let last?): text += ", \(day(first)) to \(day(last))"
    case (let first?, nil): text += ", from \(day(first))"
    case (nil, let last?): text += ", until \(day(last))"
    case (nil, nil): break
    }
    return text
  }

  private static func name(_ atom: HostAtom) -> String {
    switch atom {
    case .pattern(let text): text
    case .group(let name): name
    }
  }

  private static func name(_ atom: UserAtom) -> String {
    switch atom {
    case .people: "people"
    case .name(let name): name
    case .group(let name): name
    }
  }

  private static func list(_ noun: String, _ names: [String], except: [String], all: String) -> String {
    let included = names.isEmpty ? all : "\(noun)\(names.count == 1 ? "" : "s") \(names.joined(separator: ", "))"
    return except.isEmpty ? included : included + " except " + except.joined(separator: ", ")
  }

  /// `Mon–Fri`, `Tue, Thu`, `daily`.
  static func days(_ mask: UInt8) -> String {
    if mask & WeeklyWindow.everyDay == WeeklyWindow.everyDay { return "daily" }
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    var runs: [String] = []
    var day = 0
    while day < 7 {
      guard mask >> day & 1 == 1 else {
        day += 1
        continue
      }
      var last = day
      while last < 6, mask >> (last + 1) & 1 == 1 { last += 1 }
      runs.append(
        last == day ? names[day] : last == day + 1 ? "\(names[day]), \(names[last])" : "\(names[day])–\(names[last])")
      day = last + 1
    }
    return runs.joined(separator: ", ")
  }

  private static func clock(_ minute: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minute / 60)):\(two(minute % 60))"
  }

  private static func day(_ days: Int32) -> String {
    String(InstantText.rfc3339(Int64(days) * 86_400).prefix(10))
  }
}

extension ConditionText {
  /// Why a condition does not hold, in a few words: what it asks for, and what is the case.
  static func whyNot(_ reason: ConditionReason, _ condition: Condition, _ context: EvaluationContext) -> String {
    switch reason {
    case .host:
      let wanted = parts(condition) { $0.hosts.map(hosts) }
      return "\(wanted), this is \(context.host?.name ?? "another host")"
    case .user:
      let who =
        context.user.name
        ?? context.user.userID.map { id in ((try? UserDatabase.user(id: id)) ?? nil)?.name ?? "user \(id)" }
        ?? "nobody in particular"
      return "\(parts(condition) { $0.users.map(users) }), this is \(who)"
    case .expired(let end): return "expired \(InstantText.rfc3339(end))"
    case .window:
      var text = parts(condition) { $0.windows.isEmpty ? nil : $0.windows.map(window).joined(separator: " or ") }
      let users = parts(condition) { $0.users.map(self.users) }
      if !users.isEmpty { text += ", \(users)" }
      return text
    }
  }

  /// One part of a condition and of those around it, outermost first.
  private static func parts(_ condition: Condition, _ part: (Condition) -> String?) -> String {
    (condition.within + [condition]).compactMap { inner in
      let own = part(inner)
      let outer = inner == condition ? "" : inner.within.compactMap(part).joined(separator: "; ")
      let texts = [outer, own ?? ""].filter { !$0.isEmpty }
      return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }.joined(separator: "; ")
  }
}
