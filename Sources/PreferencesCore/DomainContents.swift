import PropertyList

/// Changes to a persistent domain that are not on the disk yet.
struct DomainChanges: Sendable {
  /// Everything that the file holds goes first (`setPersistentDomain`).
  var replacesAll = false
  /// nil removes.
  var values: [String: PropertyListValue?] = [:]

  var isEmpty: Bool { !replacesAll && values.isEmpty }

  /// What these changes make of a file's contents.
  func applied(to stored: [String: PropertyListValue]) -> [String: PropertyListValue] {
    var result = replacesAll ? [:] : stored
    for (key, value) in values { result[key] = value }
    return result
  }

  /// These changes followed by later ones.
  func followed(by later: DomainChanges) -> DomainChanges {
    if later.replacesAll { return later }
    var result = self
    for (key, value) in later.values { result.values.updateValue(value, forKey: key) }
    return result
  }
}

/// What a persistent domain holds for this process: the file, and what is on its way there.
struct DomainContents: Sendable {
  /// As last read or written.
  var stored: [String: PropertyListValue] = [:]
  /// Being written.
  var inFlight = DomainChanges()
  /// Since then.
  var pending = DomainChanges()

  func value(forKey key: String) -> PropertyListValue? {
    if let change = pending.values[key] { return change }
    if pending.replacesAll { return nil }
    if let change = inFlight.values[key] { return change }
    if inFlight.replacesAll { return nil }
    return stored[key]
  }

  var merged: [String: PropertyListValue] {
    if inFlight.isEmpty && pending.isEmpty { return stored }
    return inFlight.followed(by: pending).applied(to: stored)
  }

  /// The keys whose values differ.
  static func changedKeys(
    from before: [String: PropertyListValue], to after: [String: PropertyListValue]
  ) -> [String] {
    var keys: [String] = []
    for (key, value) in before where after[key] != value { keys.append(key) }
    for key in after.keys where before[key] == nil { keys.append(key) }
    return keys
  }
}
