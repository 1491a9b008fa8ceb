import PropertyList

extension ForcedDomain {
  /// The keys of an application that its policy lets roam: their values are kept in the user's synced store.
  ///
  /// What several profiles name comes together. A condition that can't be decided lets nothing roam: values that should stay
  /// on a machine must not leave it by mistake.
  /// - Parameter identifier: the application's domain.
  /// - Complexity: O(the annex's size).
  public func roamingKeys(of identifier: String, under truth: ConditionTruth) -> Set<String> {
    Set(roamingEntries(of: identifier, under: truth).flatMap(\.keys))
  }

  /// The profiles that let a key roam; sorted, empty where none does.
  public func profiles(roaming key: String, of identifier: String, under truth: ConditionTruth) -> [String] {
    Set(roamingEntries(of: identifier, under: truth).filter { $0.keys.contains(key) }.map(\.profile)).sortedByBytes()
  }

  private func roamingEntries(
    of identifier: String, under truth: ConditionTruth
  ) -> [(keys: [String], profile: String)] {
    var found: [(keys: [String], profile: String)] = []
    for value in annex?.dictionaryValue?["roaming"]?.arrayValue ?? [] {
      guard let entry = value.dictionaryValue, entry["domain"]?.stringValue == identifier,
        case .integer(let number)? = entry["condition"], let condition = number.int64.flatMap({ Int(exactly: $0) }),
        conditions.indices.contains(condition), truth.holds(condition, for: .release)
      else { continue }
      found.append((entry["keys"]?.stringArrayValue ?? [], entry["profile"]?.stringValue ?? ""))
    }
    return found
  }
}
