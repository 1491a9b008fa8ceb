/// The small tables of a file as Swift values.
struct DecodedTables: Sendable {
  var profiles: [ProfileReference]
  var hostGroups: [HostGroup]
  var userGroups: [UserGroup]
  var resolvedUsers: [ResolvedUser]
  var conditions: [Condition]

  init(_ view: DomainView) {
    let layout = view.layout
    profiles = (0..<layout.profiles.count).map { index in
      func text(_ field: Int) -> Int { view.field(layout.profiles, index, stride: Layout.Stride.profile, field) }
      return ProfileReference(
        id: view.string(text(0)), title: view.string(text(1)), owner: view.optionalString(text(2)))
    }
    hostGroups = (0..<layout.hostGroups.count).map { index in
      HostGroup(
        name: view.string(view.field(layout.hostGroups, index, stride: Layout.Stride.hostGroup, 0)),
        patterns: view.patternTexts(ofHostGroup: index).map { view.string($0) })
    }
    userGroups = (0..<layout.userGroups.count).map { index in
      UserGroup(
        name: view.string(view.field(layout.userGroups, index, stride: Layout.Stride.userGroup, 0)),
        names: view.items(ofUserGroup: index, .names).map { view.string(Int($0)) },
        unixGroups: view.items(ofUserGroup: index, .unixGroups).map { view.string(Int($0)) },
        userIDs: view.items(ofUserGroup: index, .userIDs), groupIDs: view.items(ofUserGroup: index, .groupIDs))
    }
    resolvedUsers = (0..<layout.resolvedUsers.count).map { index in
      let (text, userID) = view.resolvedUser(index)
      return ResolvedUser(name: view.string(text), userID: userID)
    }
    let (hostNames, userNames) = (hostGroups.map(\.name), userGroups.map(\.name))
    conditions = []
    conditions.reserveCapacity(layout.conditions.count)
    for index in 0..<layout.conditions.count {
      var condition = view.condition(index, hostGroups: hostNames, userGroups: userNames)
      // Shared, not decoded again: it stands in front.
      let outer = view.outerCondition(index)
      if outer != 0 { condition.within = [conditions[outer]] }
      conditions.append(condition)
    }
  }
}

extension DomainView {
  func patternTexts(ofHostGroup index: Int) -> [Int] {
    let range =
      end(
        layout.hostGroups, index - 1, stride: Layout.Stride.hostGroup, 1)..<end(
        layout.hostGroups, index, stride: Layout.Stride.hostGroup, 1)
    return range.map { field(layout.hostPatterns, $0, stride: 4, 0) }
  }

  /// The four lists of a user group, by the field that holds their end.
  enum UserGroupList: Int {
    case names = 1
    case unixGroups, userIDs, groupIDs
  }

  func items(ofUserGroup index: Int, _ list: UserGroupList) -> [UInt32] {
    let stride = Layout.Stride.userGroup
    let start =
      list == .names
      ? end(layout.userGroups, index - 1, stride: stride, 4)
      : field(layout.userGroups, index, stride: stride, list.rawValue - 1)
    let end = field(layout.userGroups, index, stride: stride, list.rawValue)
    return (start..<end).map { word4(layout.userGroupItems.offset + $0 * 4) }
  }

  func resolvedUser(_ index: Int) -> (text: Int, userID: UInt32?) {
    let at = layout.resolvedUsers.offset + index * Layout.Stride.resolvedUser
    return (Int(word4(at)), word4(at + 8) == 0 ? nil : word4(at + 4))
  }

  // MARK: Conditions

  private func conditionWord(_ index: Int) -> UInt32 {
    word4(layout.conditions.offset + index * Layout.Stride.condition)
  }

  func conditionFlags(_ index: Int) -> UInt32 {
    conditionWord(index) & (1 << Format.ConditionFlag.outerShift - 1)
  }

  /// The condition that this one stands within; 0, which always holds, where there is none.
  func outerCondition(_ index: Int) -> Int { Int(conditionWord(index) >> Format.ConditionFlag.outerShift) }

  func notAfter(ofCondition index: Int) -> Int64? {
    guard conditionFlags(index) & Format.ConditionFlag.notAfter != 0 else { return nil }
    return Int64(bitPattern: word8(layout.conditions.offset + index * Layout.Stride.condition + 24))
  }

  /// The four lists of atoms of a condition, by the field that holds their end.
  enum AtomList: Int {
    case hostInclude = 1
    case hostExclude, userInclude, userExclude
  }

  func atomRange(ofCondition index: Int, _ list: AtomList) -> Range<Int> {
    let stride = Layout.Stride.condition
    let start =
      list == .hostInclude
      ? end(layout.conditions, index - 1, stride: stride, 4)
      : field(layout.conditions, index, stride: stride, list.rawValue - 1)
    return start..<field(layout.conditions, index, stride: stride, list.rawValue)
  }

  func atom(_ index: Int) -> (kind: UInt32, operand: Int) {
    let at = layout.atoms.offset + index * Layout.Stride.atom
    return (word4(at), Int(word4(at + 4)))
  }

  func windowRange(ofCondition index: Int) -> Range<Int> {
    end(
      layout.conditions, index - 1, stride: Layout.Stride.condition, 5)..<end(
        layout.conditions, index, stride: Layout.Stride.condition, 5)
  }

  func intervalRange(ofWindow index: Int) -> Range<Int> {
    end(
      layout.windows, index - 1, stride: Layout.Stride.window, 6)..<end(
        layout.windows, index, stride: Layout.Stride.window, 6)
  }

  func interval(_ index: Int) -> Range<Int64> {
    let at = layout.intervals.offset + index * Layout.Stride.interval
    return Int64(bitPattern: word8(at))..<Int64(bitPattern: word8(at + 8))
  }

  func window(_ index: Int) -> WeeklyWindow {
    let at = layout.windows.offset + index * Layout.Stride.window
    let flags = byte(at + 1)
    let minutes = word4(at + 4)
    return WeeklyWindow(
      days: byte(at), fromMinute: Int(minutes & 0xFFFF), toMinute: Int(minutes >> 16),
      timeZone: string(Int(word4(at + 16))),
      firstDay: flags & Format.WindowFlag.firstDay == 0 ? nil : Int32(bitPattern: word4(at + 8)),
      lastDay: flags & Format.WindowFlag.lastDay == 0 ? nil : Int32(bitPattern: word4(at + 12)))
  }

  /// A condition without the one around it.
  func condition(_ index: Int, hostGroups: [String], userGroups: [String]) -> Condition {
    func hosts(_ list: AtomList) -> [HostAtom] {
      atomRange(ofCondition: index, list).map { index in
        let (kind, operand) = atom(index)
        return kind == Format.AtomKind.hostPattern ? .pattern(string(operand)) : .group(hostGroups[operand])
      }
    }
    func users(_ list: AtomList) -> [UserAtom] {
      atomRange(ofCondition: index, list).map { index in
        let (kind, operand) = atom(index)
        switch kind {
        case Format.AtomKind.people: return .people
        case Format.AtomKind.userName: return .name(string(operand))
        default: return .group(userGroups[operand])
        }
      }
    }
    let flags = conditionFlags(index)
    return Condition(
      hosts: flags & Format.ConditionFlag.hosts == 0
        ? nil : HostSelector(include: hosts(.hostInclude), exclude: hosts(.hostExclude)),
      users: flags & Format.ConditionFlag.users == 0
        ? nil : UserSelector(include: users(.userInclude), exclude: users(.userExclude)),
      windows: windowRange(ofCondition: index).map { window($0) }, notAfter: notAfter(ofCondition: index))
  }

  // MARK: Entries

  func decodedEntry(_ index: Int, _ tables: DecodedTables) -> ForcedEntry {
    let entry = entry(index)
    return ForcedEntry(
      section: PolicySection(rawValue: entry.section) ?? .forced,
      action: EntryAction(rawValue: entry.action) ?? .replace, rank: entry.rank,
      conditionIndex: Int(entry.condition), condition: tables.conditions[Int(entry.condition)],
      profile: tables.profiles[Int(entry.profile)], value: storedValue(entry)?.decoded(),
      provenance: provenance(index))
  }

  func provenance(_ index: Int) -> Provenance? {
    guard layout.provenance.count > 0 else { return nil }
    let at = layout.provenance.offset + index * Layout.Stride.provenance
    return Provenance(
      file: string(Int(word4(at))), line: word4(at + 4), column: word4(at + 8),
      reason: optionalString(Int(word4(at + 12))), owner: optionalString(Int(word4(at + 16))),
      ticket: optionalString(Int(word4(at + 20))))
  }
}
