public import PropertyList

/// Which keys are never printed, logged or reported: those that a manifest calls secret.
public struct SecretKeys: Sendable {
  private let keys: [String: Set<String>]

  /// - Parameter file: nil where there is no policy: nothing is known to be secret.
  public init(of file: ForcedDomain?) { self.init(annex: file?.annex) }

  /// - Parameter annex: `ForcedDomain.annex`, for callers that have it decoded.
  public init(annex: PropertyListValue?) {
    let lists = annex?.dictionaryValue?["secrets"]?.dictionaryValue ?? [:]
    keys = lists.mapValues { Set($0.stringArrayValue ?? []) }
  }

  public func contains(_ key: String, in domains: some Sequence<String>) -> Bool {
    domains.contains { keys[$0]?.contains(key) ?? false }
  }
}
