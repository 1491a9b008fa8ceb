import ForcedDomain
import PropertyList

/// One store of a search list, as it was at one moment.
///
/// The law of the search list: stores are asked in the order of `ListState.sources()`, and the first that has the key
/// gives the value and thereby decides whether the key is forced. Tables are filled from this order, a single key is
/// resolved from it, and evidence lists it; there is no other copy of the order.
struct LayerSource {
  enum Contents {
    case policy(ForcedDomain, ConditionTruth, PolicySection)
    case file(DomainContents)
    /// A synced store, and the keys that roam in it.
    case roaming(RoamingContents, keys: Set<String>)
    case values([String: PropertyListValue])
    /// The domain of a language, made when one of its keys is asked for.
    case language(LanguageDomains, tag: String)
  }

  let layer: Layer
  /// The language's tag for a language domain; empty for the other volatile layers.
  let domain: String
  let path: String?
  let contents: Contents

  func value(forKey key: String) -> PropertyListValue? {
    switch contents {
    case .policy(let policy, let truth, let section):
      policy.resolve(domain: domain, key: key, section: section, under: truth).value
    case .file(let contents): contents.value(forKey: key)
    case .roaming(let contents, let keys): keys.contains(key) ? contents.values[key] : nil
    case .values(let values): values[key]
    case .language(let languages, let tag):
      LanguageKey.names.contains(key) ? languages.values(ofLanguage: tag)?[key] : nil
    }
  }

  /// Puts every key that no earlier source had.
  func fill(_ table: SlotTable) {
    switch contents {
    case .policy(let policy, let truth, let section):
      policy.forEachResolvedKey(inDomain: domain, section: section, under: truth) { key, value in
        table.putFirst(key, layer: layer) { TableValue(value) }
      }
    case .file(let contents): fill(table, contents.merged)
    case .roaming(let contents, let keys): fill(table, contents.values.filter { keys.contains($0.key) })
    case .values(let values): fill(table, values)
    case .language(let languages, let tag): fill(table, languages.values(ofLanguage: tag) ?? [:])
    }
  }

  private func fill(_ table: SlotTable, _ values: [String: PropertyListValue]) {
    for (key, value) in values {
      var key = key
      key.withUTF8 { bytes in
        TableValue.with(value) { stored in table.putFirst(UnsafeRawBufferPointer(bytes), layer: layer) { stored } }
      }
    }
  }
}

extension TableValue {
  init(_ value: ResolvedValue) {
    switch value {
    case .boolean(let value): self = .scalar(.boolean, value ? 1 : 0)
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .scalar(.real, value.bitPattern)
    case .date(let value): self = .scalar(.date, value.secondsSinceReferenceDate.bitPattern)
    case .string(let bytes): self = .utf8(bytes)
    case .stored, .gathered: self = .object(ValueBox(value.value))
    }
  }
}
