import HostPatterns

/// Hosts, users and windows: where, for whom and when.
extension DocumentDecoder {
  /// The scope whose parts are fields of a mapping of their own (`applies`) or of something larger (an override).
  mutating func scope(_ fields: Fields) -> Scope {
    Scope(hosts: hosts(fields["hosts"]), users: users(fields["users"]), windows: windows(fields["during"]))
  }

  // MARK: Hosts

  private mutating func hosts(_ entry: Entry?) -> HostScope? {
    guard let entry, let fields = fields(of: entry.value, as: PolicySchema.hosts, named: entry.name) else { return nil }
    if reportEmpty(entry, fields) { return nil }
    var except: HostItems?
    if let entry = fields["except"],
      let inner = self.fields(of: entry.value, as: PolicySchema.hostItems, named: entry.name),
      !reportEmpty(entry, inner)
    {
      except = hostItems(inner)
    }
    return HostScope(include: hostItems(fields), except: except, position: tree.position(entry.key))
  }

  mutating func hostItems(_ fields: Fields) -> HostItems {
    HostItems(names: hostPatterns(fields["names"]), groups: texts(fields["groups"], whenEmpty: .emptySelector))
  }

  /// Patterns whose syntax is right; the others are reported at the character that is wrong.
  mutating func hostPatterns(_ entry: Entry?) -> [Located<String>] {
    texts(entry, whenEmpty: .emptySelector, ignoringCase: true).filter { checkPattern($0) }
  }

  mutating func checkPattern(_ text: Located<String>) -> Bool {
    do throws(HostPatternError) {
      _ = try HostPattern(parsing: text.value)
      return true
    } catch {
      sink.report(
        .invalidHostPattern, at: text.position, "'\(text.value.shown)': \(error), at character \(error.offset + 1)")
      return false
    }
  }

  private mutating func reportEmpty(_ entry: Entry, _ fields: Fields) -> Bool {
    guard tree.count(of: fields.node) == 0 else { return false }
    sink.report(.emptySelector, at: tree.position(entry.value), "\(entry.name) selects nothing")
    return true
  }

  // MARK: Users

  private mutating func users(_ entry: Entry?) -> UserScope? {
    guard let entry, let fields = fields(of: entry.value, as: PolicySchema.users, named: entry.name) else { return nil }
    if reportEmpty(entry, fields) { return nil }
    var except: UserItems?
    if let entry = fields["except"],
      let inner = self.fields(of: entry.value, as: PolicySchema.userItems, named: entry.name),
      !reportEmpty(entry, inner)
    {
      except = userItems(inner)
    }
    return UserScope(include: userItems(fields), except: except, position: tree.position(entry.key))
  }

  private mutating func userItems(_ fields: Fields) -> UserItems {
    UserItems(
      names: userNames(fields["names"], allowsPeople: true),
      groups: texts(fields["groups"], whenEmpty: .emptySelector))
  }

  /// Names of accounts. They are no patterns: `*` alone means people, where that makes sense.
  mutating func userNames(_ entry: Entry?, allowsPeople: Bool) -> [Located<String>] {
    texts(entry, whenEmpty: .emptySelector).filter { name in
      if name.value == "*" && allowsPeople { return true }
      let bad = name.value.unicodeScalars.first {
        "*?[]/:,".unicodeScalars.contains($0) || $0.properties.isWhitespace || $0.isUnsafeToPrint
      }
      guard let bad else { return true }
      sink.report(
        .invalidUserName, at: name.position, "'\(name.value.shown)' is no user name: it contains '\(String(bad).shown)'"
      )
      return false
    }
  }

  // MARK: Windows

  private mutating func windows(_ entry: Entry?) -> [WindowRule] {
    elements(entry, of: "windows", whenEmpty: .emptySelector).compactMap { window($0) }
  }

  private mutating func window(_ node: NodeID) -> WindowRule? {
    guard let fields = fields(of: node, as: PolicySchema.window, named: "a time window") else { return nil }
    let days = days(fields["days"])
    let from = time(fields["from"], allowsEndOfDay: false)
    let to = time(fields["to"], allowsEndOfDay: true)
    let zone = text(fields["timezone"])
    let between = between(fields["between"])
    if let between, let entry = fields["between"] { checkStart(days, between, at: entry) }
    // A time that was reported stands in for itself, so that the zone is checked as well.
    guard let zone else { return nil }
    return WindowRule(
      days: days, fromMinute: from ?? 0, toMinute: to ?? 0, timeZone: zone, firstDay: between?.first,
      lastDay: between?.last,
      position: tree.position(node))
  }

  /// Reports dates between which none of the window's days lies.
  private mutating func checkStart(_ days: UInt8, _ between: (first: Int32, last: Int32), at entry: Entry) {
    // 1970-01-01 was a Thursday, and a week holds every day. No day at all was reported as such.
    let (first, last) = (Int(between.first), Int(between.last))
    guard days != 0, last - first < 6 else { return }
    if (first...last).contains(where: { days >> UInt8(((($0 + 3) % 7) + 7) % 7) & 1 == 1 }) { return }
    let names = PolicySchema.days.enumerated().filter { days >> UInt8($0.offset) & 1 == 1 }.map(\.element)
    let dates = tree.elements(of: entry.value).map { tree.string($0).shown }
    sink.report(
      .windowNeverOpens, at: tree.position(entry.value),
      dates[0] == dates[1]
        ? "\(dates[0]) is no \(names.joined(separator: " or ")): the window never opens"
        : "from \(dates[0]) to \(dates[1]) there is no \(names.joined(separator: " or ")): the window never opens")
  }

  private mutating func days(_ entry: Entry?) -> UInt8 {
    guard let entry else { return 0x7F }
    var days: UInt8 = 0
    for name in texts(entry, whenEmpty: .emptySelector) {
      if let day = PolicySchema.days.firstIndex(of: name.value) {
        days |= 1 << UInt8(day)
      } else {
        reportChoice(name, of: entry.name, choices: PolicySchema.days)
      }
    }
    return days
  }

  /// Minutes from midnight. The end of the day, `24:00`, is the next day's midnight, which crosses it.
  private mutating func time(_ entry: Entry?, allowsEndOfDay: Bool) -> Int? {
    guard let entry, let text = text(entry) else { return nil }
    let bytes = Array(text.value.utf8)
    if bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
      [0, 1, 3, 4].allSatisfy({ bytes[$0] >= 0x30 && bytes[$0] <= 0x39 })
    {
      let hour = Int(bytes[0] - 0x30) * 10 + Int(bytes[1] - 0x30)
      let minute = Int(bytes[3] - 0x30) * 10 + Int(bytes[4] - 0x30)
      if hour < 24 && minute < 60 { return hour * 60 + minute }
      if hour == 24 && minute == 0 && allowsEndOfDay { return 0 }
    }
    sink.report(.invalidTime, at: text.position, "\(entry.name): '\(text.value.shown)' is no time of day")
    return nil
  }

  private mutating func between(_ entry: Entry?) -> (first: Int32, last: Int32)? {
    guard let entry else { return nil }
    let nodes = elements(entry, of: "two dates")
    if nodes.isEmpty { return nil }
    guard nodes.count == 2 else {
      sink.report(
        .invalidValue, at: tree.position(entry.value),
        "between has two dates, the first and the last, found \(nodes.count)")
      return nil
    }
    let dates = nodes.map { date($0) }
    guard let first = dates[0], let last = dates[1] else { return nil }
    if last < first {
      sink.report(
        .reversedRange, at: tree.position(entry.value),
        "between ends on \(tree.string(nodes[1]).shown), before it begins on \(tree.string(nodes[0]).shown)")
      return nil
    }
    return (first, last)
  }

  private mutating func date(_ node: NodeID) -> Int32? {
    if tree.isFaulty(node) { return nil }
    guard tree.kind(node) == .string || tree.kind(node) == .date else {
      reportType(node, "an element of between", expected: "date")
      return nil
    }
    let written = tree.string(node)
    guard let date = Timestamp(written), !date.hasTime else {
      sink.report(
        .invalidDate, at: tree.position(node), "between: '\(written.shown)' is no day that exists",
        hint: "write it like 2026-12-01")
      return nil
    }
    return date.day
  }
}
