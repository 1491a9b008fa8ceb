public import UbiquitousStore

/// A place that back ends connect to, as the suite needs it: what a new back end brings to be tested.
public struct BackEndPlace: Sendable {
  /// Two accounts that the place knows. Nothing is stored under them.
  public var accounts: (String, String)
  /// A new connection with an account's rights, as another process or machine has it.
  public var connect: @Sendable (_ account: String) throws -> any StoreBackEnd
  /// The back end's own clock, in milliseconds.
  public var now: @Sendable () -> Int64
  /// Moves that clock on; nil where it can't be moved, and then `tombstonesAreCollected` checks nothing.
  public var advance: (@Sendable (Int64) throws -> Void)?
  /// Whether it stands between machines, and refuses clocks that are too far ahead.
  public var refusesClocks: Bool

  public init(
    accounts: (String, String), refusesClocks: Bool, connect: @escaping @Sendable (String) throws -> any StoreBackEnd,
    now: @escaping @Sendable () -> Int64, advance: (@Sendable (Int64) throws -> Void)? = nil
  ) {
    self.accounts = accounts
    self.connect = connect
    self.now = now
    self.advance = advance
    self.refusesClocks = refusesClocks
  }

  /// The store that a check uses, one for each check so that a place can serve them all.
  func store(_ name: String = #function) -> StoreID {
    StoreID(account: accounts.0, application: "com.example." + name.prefix { $0 != "(" })
  }
}

/// What a check found wrong, gathered.
public struct Findings {
  public private(set) var texts: [String] = []

  public init() {}

  public mutating func expect(_ condition: Bool, _ text: @autoclosure () -> String, line: Int = #line) {
    if !condition { texts.append("line \(line): \(text())") }
  }

  public mutating func expect<T: Equatable>(_ found: T, is wanted: T, _ what: String = "", line: Int = #line) {
    expect(found == wanted, "\(what) found \(found), wanted \(wanted)", line: line)
  }
}
