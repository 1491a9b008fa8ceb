public import ForcedDomain
public import PropertyList

/// The controls and exemptions of a policy, read from what the compiler put beside its entries.
///
/// The shape of that dictionary is described with the compiler's `Annex`; this is its only reader. An entry that does not
/// have that shape is counted as damaged, never left out in silence: a control that is not asked would count as passed.
public struct ControlCatalogue: Sendable {
  /// In the order of the sources: by file, then as written.
  public let controls: [Control]
  public let exemptions: [Exemption]
  /// Which keys are never shown.
  public let secrets: SecretKeys
  /// How many entries could not be read.
  public let damagedEntries: Int

  /// What an auditor checks.
  public struct Control: Sendable, Hashable {
    public let id: String
    public let title: String
    public let references: [String]
    /// `info low medium high critical`.
    public let severity: String
    public let expectations: [Expectation]
    /// The profile that asks for it.
    public let profile: String
    /// In the conditions of the file that the catalogue comes from.
    let condition: Int
  }

  /// Where a control is not asked, why, and until when.
  public struct Exemption: Sendable, Hashable {
    public let control: String
    public let reason: String
    public let owner: String
    public let expires: PropertyListDate
    public let profile: String
    let condition: Int
  }

  /// - Parameter file: a provenance file or a payload: the file that everyone may read has no controls.
  /// - Complexity: O(annex).
  public init(of file: ForcedDomain) { self.init(annex: file.annex, conditionCount: file.conditions.count) }

  init(annex: PropertyListValue?, conditionCount: Int) {
    let members = annex?.dictionaryValue ?? [:]
    secrets = SecretKeys(annex: annex)
    let readers = (members["controls"]?.arrayValue ?? []).map { Control($0, conditionCount) }
    let granted = (members["exemptions"]?.arrayValue ?? []).map { Exemption($0, conditionCount) }
    controls = readers.compactMap { $0 }
    exemptions = granted.compactMap { $0 }
    damagedEntries = readers.count { $0 == nil } + granted.count { $0 == nil }
  }
}

/// What is expected of one key.
public struct Expectation: Sendable, Hashable {
  /// An operator with its operand. All of an expectation's must hold.
  public struct Condition: Sendable, Hashable {
    public let comparison: ValueComparison
    public let operand: PropertyListValue
  }

  public let domain: String
  public let key: String
  /// In the order of the operators' table; never empty.
  public let conditions: [Condition]

  func holds(for value: PropertyListValue?) -> Bool {
    conditions.allSatisfy { $0.comparison.holds(for: value, operand: $0.operand) }
  }

  func accepts(_ type: PropertyListType) -> Bool {
    conditions.allSatisfy { $0.comparison.accepts(type, operand: $0.operand) }
  }

  /// As a policy writes it: the value itself, or its operators.
  public var written: PropertyListValue {
    if let only = conditions.first, conditions.count == 1, only.comparison == .is, only.operand.type != .dictionary {
      return only.operand
    }
    return .dictionary(
      Dictionary(conditions.map { ($0.comparison.rawValue, $0.operand) }) { first, _ in first })
  }

  /// The same for people: `false`, `max 60`, `min 5 and max 60`.
  public var text: String {
    conditions.map { condition in
      let operand = condition.operand.displayText
      return switch condition.comparison {
      case .is: operand
      case .min: "min \(operand)"
      case .max: "max \(operand)"
      case .oneOf: "one of \(operand)"
      case .contains: "contains \(operand)"
      }
    }.joined(separator: " and ")
  }
}

// MARK: Reading

extension ControlCatalogue.Control {
  fileprivate init?(_ value: PropertyListValue, _ conditionCount: Int) {
    guard let entry = value.dictionaryValue, let id = entry["id"]?.text, let title = entry["title"]?.text,
      let severity = entry["severity"]?.text, let profile = entry["profile"]?.text,
      let condition = entry["condition"]?.index(below: conditionCount), let expect = entry["expect"]?.arrayValue
    else { return nil }
    let expectations = expect.compactMap { Expectation($0) }
    guard expectations.count == expect.count, !expectations.isEmpty else { return nil }
    self.init(
      id: id, title: title, references: entry["references"]?.stringArrayValue ?? [], severity: severity,
      expectations: expectations, profile: profile, condition: condition)
  }
}

extension ControlCatalogue.Exemption {
  fileprivate init?(_ value: PropertyListValue, _ conditionCount: Int) {
    guard let entry = value.dictionaryValue, let control = entry["control"]?.text, let reason = entry["reason"]?.text,
      let owner = entry["owner"]?.text, case .date(let expires)? = entry["expires"],
      let profile = entry["profile"]?.text, let condition = entry["condition"]?.index(below: conditionCount)
    else { return nil }
    self.init(
      control: control, reason: reason, owner: owner, expires: expires, profile: profile, condition: condition)
  }
}

extension Expectation {
  fileprivate init?(_ value: PropertyListValue) {
    guard let entry = value.dictionaryValue, let domain = entry["domain"]?.text, let key = entry["key"]?.text
    else { return nil }
    let conditions = ValueComparison.allCases.compactMap { comparison in
      entry[comparison.rawValue].map { Condition(comparison: comparison, operand: $0) }
    }
    guard !conditions.isEmpty else { return nil }
    self.init(domain: domain, key: key, conditions: conditions)
  }
}

extension PropertyListValue {
  /// A string as it stands; never a converted number.
  fileprivate var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  fileprivate func index(below count: Int) -> Int? {
    guard case .integer(let number) = self, let index = number.int64, index >= 0, index < Int64(count) else {
      return nil
    }
    return Int(index)
  }
}
