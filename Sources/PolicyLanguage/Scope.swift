/// Hosts that a selection lists: names (literal, glob or range, syntax checked) and groups of the inventory.
public struct HostItems: Sendable {
  /// Patterns as written.
  public let names: [Located<String>]
  public let groups: [Located<String>]

  public init(names: [Located<String>] = [], groups: [Located<String>] = []) {
    self.names = names
    self.groups = groups
  }

  public var isEmpty: Bool { names.isEmpty && groups.isEmpty }
}

/// Which hosts something concerns: those that an item of `include` matches (all, where it is empty), less `except`.
public struct HostScope: Sendable {
  public let include: HostItems
  public let except: HostItems?
  public let position: SourcePosition
}

/// Users that a selection lists: names (`*` means people) and groups of the inventory.
public struct UserItems: Sendable {
  public let names: [Located<String>]
  public let groups: [Located<String>]

  public init(names: [Located<String>] = [], groups: [Located<String>] = []) {
    self.names = names
    self.groups = groups
  }

  public var isEmpty: Bool { names.isEmpty && groups.isEmpty }
}

/// Which users something concerns: those that an item of `include` matches (everyone, where it is empty), less `except`.
public struct UserScope: Sendable {
  public let include: UserItems
  public let except: UserItems?
  public let position: SourcePosition
}

/// A weekly window of wall-clock time in a named zone (rule 9).
public struct WindowRule: Sendable {
  /// The days on which it starts: bit 0 is Monday, bit 6 Sunday; all seven where none is named.
  public let days: UInt8
  /// Minutes from local midnight; inclusive.
  public let fromMinute: Int
  /// Minutes from local midnight; exclusive. Not above `fromMinute`: the window ends on the next day.
  public let toMinute: Int
  public let timeZone: Located<String>
  /// The first and the last day on which it starts, in days since 1970-01-01; nil without `between`.
  public let firstDay: Int32?
  public let lastDay: Int32?
  public let position: SourcePosition
}

/// Where, for whom and when something applies. Every part that is given must hold.
public struct Scope: Sendable {
  public let hosts: HostScope?
  public let users: UserScope?
  /// Any of them; none given means always.
  public let windows: [WindowRule]

  public init(hosts: HostScope? = nil, users: UserScope? = nil, windows: [WindowRule] = []) {
    self.hosts = hosts
    self.users = users
    self.windows = windows
  }

  /// Everyone, everywhere, always.
  public var isUnlimited: Bool { hosts == nil && users == nil && windows.isEmpty }
}
