/// The domain that all applications have in common.
extension ForcedDomain {
  public static let globalDomain = "NSGlobalDomain"

  /// The domains whose entries bind applications of a domain, in the order in which they are asked: its own, then the one
  /// that all have in common.
  public static func domains(binding domain: String) -> [String] {
    domain == globalDomain ? [domain] : [domain, globalDomain]
  }
}
