/// The zones that one piece of work has read already.
public struct TimeZoneShelf: Sendable {
  private var zones: [String: TimeZoneRules] = [:]

  public init() {}

  public mutating func rules(named name: String) throws(TimeZoneError) -> TimeZoneRules {
    if let rules = zones[name] { return rules }
    let rules = try TimeZoneRules(named: name)
    zones[name] = rules
    return rules
  }
}
