import PropertyList

/// The annex of a payload (`Annex` describes it) in the files of one host.
enum NarrowedAnnex {
  private static let listsWithConditions = ["containers", "roaming", "controls", "exemptions"]

  /// What applications need: grants to containers and roaming keys that can hold here, and which keys are secret.
  ///
  /// - Parameter condition: the number in the new file of a condition of the payload, nil where it can't hold here.
  static func forEveryone(_ annex: PropertyListValue?, condition: (Int) -> UInt32?) -> PropertyListValue {
    let all = annex?.dictionaryValue ?? [:]
    var result: [String: PropertyListValue] = [:]
    result["secrets"] = all["secrets"]
    for name in ["containers", "roaming"] { if let list = all[name] { result[name] = renumbered(list, condition) } }
    return .dictionary(result)
  }

  /// Everything, conditions renumbered.
  static func forAuditors(_ annex: PropertyListValue?, condition: (Int) -> UInt32?) -> PropertyListValue {
    var result = annex?.dictionaryValue ?? [:]
    for name in listsWithConditions { if let list = result[name] { result[name] = renumbered(list, condition) } }
    return .dictionary(result)
  }

  private static func renumbered(_ list: PropertyListValue, _ condition: (Int) -> UInt32?) -> PropertyListValue? {
    let entries = (list.arrayValue ?? []).compactMap { entry -> PropertyListValue? in
      guard var members = entry.dictionaryValue, case .integer(let old)? = members["condition"],
        let index = old.int64, let number = condition(Int(index))
      else { return nil }
      members["condition"] = .integer(PropertyListInteger(Int(number)))
      return .dictionary(members)
    }
    return entries.isEmpty ? nil : .array(entries)
  }
}
