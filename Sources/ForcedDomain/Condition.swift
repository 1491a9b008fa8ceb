/// One item of a host selector.
public enum HostAtom: Sendable, Hashable {
  /// A literal name, a glob or a range, in lower case; the syntax is that of the room HostPatterns.
  case pattern(String)
  /// A host group of the inventory, by name.
  case group(String)
}

/// Which hosts are meant: those that any `include` names (none given: every host) and no `exclude` names.
public struct HostSelector: Sendable, Hashable {
  public var include: [HostAtom]
  public var exclude: [HostAtom]

  public init(include: [HostAtom] = [], exclude: [HostAtom] = []) {
    self.include = include
    self.exclude = exclude
  }
}

/// One item of a user selector.
public enum UserAtom: Sendable, Hashable {
  /// `*`: people (uid ≥ 1000), not root and not the accounts of services.
  case people
  case name(String)
  /// A user group of the inventory, by name.
  case group(String)
}

/// Which users are meant: those that any `include` names (none given: everyone) and no `exclude` names.
public struct UserSelector: Sendable, Hashable {
  public var include: [UserAtom]
  public var exclude: [UserAtom]

  public init(include: [UserAtom] = [], exclude: [UserAtom] = []) {
    self.include = include
    self.exclude = exclude
  }
}

/// A span of the week in the wall-clock time of a zone, as an administrator writes it.
public struct WeeklyWindow: Sendable, Hashable {
  /// Bit 0 is Monday. A window that crosses midnight belongs to the day it starts.
  public var days: UInt8
  /// Minutes of the local day, 0 … 1440, inclusive.
  public var fromMinute: Int
  /// Minutes of the local day, 0 … 1440, exclusive; at or before `fromMinute`, the window crosses midnight.
  public var toMinute: Int
  /// A name of the time zone database, such as `Europe/Berlin`.
  public var timeZone: String
  /// Days since 1970-01-01 on which the window may start, both included; nil: unbounded.
  public var firstDay: Int32?
  public var lastDay: Int32?

  public static let everyDay: UInt8 = 0x7F
  /// The last minute that `fromMinute` and `toMinute` may name: midnight at the end of the day.
  public static let lastMinute = 1440

  public init(
    days: UInt8 = Self.everyDay, fromMinute: Int, toMinute: Int, timeZone: String, firstDay: Int32? = nil,
    lastDay: Int32? = nil
  ) {
    self.days = days
    self.fromMinute = fromMinute
    self.toMinute = toMinute
    self.timeZone = timeZone
    self.firstDay = firstDay
    self.lastDay = lastDay
  }
}

/// Where, for whom and when an entry holds. Every part that is given must hold.
public struct Condition: Sendable, Hashable {
  /// nil: every host; in a narrowed file always nil, since root has decided it.
  public var hosts: HostSelector?
  public var users: UserSelector?
  /// Holds while any of them is open; empty: always.
  public var windows: [WeeklyWindow]
  /// Unix seconds; holds while the time is before it. nil: for ever.
  public var notAfter: Int64?
  /// A condition that must hold as well, or none: that of the profile around an override, as far as both name hosts,
  /// users or windows. It stands within no further one.
  public var within: [Condition]

  public init(
    hosts: HostSelector? = nil, users: UserSelector? = nil, windows: [WeeklyWindow] = [], notAfter: Int64? = nil,
    within: [Condition] = []
  ) {
    self.hosts = hosts
    self.users = users
    self.windows = windows
    self.notAfter = notAfter
    self.within = within
  }

  /// Everyone, everywhere, always: condition 0 of each file.
  public static let always = Condition()
}

/// A host group of the inventory, groups inside it already replaced by their patterns.
public struct HostGroup: Sendable, Hashable {
  public var name: String
  public var patterns: [String]

  public init(name: String, patterns: [String]) {
    self.name = name
    self.patterns = patterns
  }
}

/// A user group of the inventory, groups inside it already replaced by their members.
public struct UserGroup: Sendable, Hashable {
  public var name: String
  public var names: [String]
  /// Unix groups whose members belong; resolved to `groupIDs` by root.
  public var unixGroups: [String]
  /// The ids of `names`, as root resolved them; empty in a bundle.
  public var userIDs: [UInt32]
  /// The ids of `unixGroups`, as root resolved them; empty in a bundle.
  public var groupIDs: [UInt32]

  public init(
    name: String, names: [String] = [], unixGroups: [String] = [], userIDs: [UInt32] = [], groupIDs: [UInt32] = []
  ) {
    self.name = name
    self.names = names
    self.unixGroups = unixGroups
    self.userIDs = userIDs
    self.groupIDs = groupIDs
  }
}

/// A user name that conditions mention, with the id that root found for it.
public struct ResolvedUser: Sendable, Hashable {
  public var name: String
  /// nil: never resolved; it matches nobody but a what-if that gives the name alone.
  public var userID: UInt32?

  public init(name: String, userID: UInt32?) {
    self.name = name
    self.userID = userID
  }
}
