import PropertyList

extension ForcedDomain {
  /// The keys of an application that its policy lets roam: their values are kept in the user's synced store.
  ///
  /// What several profiles name comes together. A condition that can't be decided lets nothing roam: values that should stay
  /// on a machine must not leave it by mistake.
  /// - Parameter identifier: the application's domain.
  /// - Complexity: O(the annex's size).
  public func roamingKeys(of identifier: String, under truth: ConditionTruth) -> Set<String> {
    var keys: Set<String> = []
    for value in annex?.dictionaryValue?["roaming"]?.arrayValue ?? [] {
      guard let entry = value.dictionaryValue, entry["domain"]?.stringValue == identifier,
        case .integer(let number)? = entry["condition"], let condition = number.int64.flatMap({ Int(exactly: $0) }),
        conditions.indices.contains(condition), truth.holds(condition, for: .release)
      else { continue }
      keys.formUnion(entry["keys"]?.stringArrayValue ?? [])
    }
    return keys
  }
}
