public import PropertyList

/// A profile that forces (or contributes to) a value.
public struct ForcedBy: Sendable, Hashable {
  /// The profile's id, such as `org.example.lab.exam`.
  public let profile: String
  public let title: String
  /// The generation of the forced domain that says so.
  public let generation: UInt64
  /// The Unix second at which the profile's entry stops holding by itself: its open window closes, or it expires; nil
  /// when only a new generation can end it.
  public let until: Int64?

  public init(profile: String, title: String, generation: UInt64, until: Int64? = nil) {
    self.profile = profile
    self.title = title
    self.generation = generation
    self.until = until
  }
}

/// What a search list answered for one key, with its evidence: everything that was asked, in order.
///
/// Value, winner and `isForced` come from one walk, so they can't contradict each other.
public struct Resolution: Sendable, Hashable {
  /// One store that was asked.
  public struct Candidate: Sendable, Hashable {
    public let layer: Layer
    /// The domain whose entry this is, such as `org.example.Editor` or `NSGlobalDomain`; empty for volatile layers.
    public let domain: String
    /// The file, nil for volatile layers.
    public let path: String?
    /// What the store has for the key, nil when nothing.
    public let value: PropertyListValue?

    public init(layer: Layer, domain: String, path: String?, value: PropertyListValue?) {
      self.layer = layer
      self.domain = domain
      self.path = path
      self.value = value
    }
  }

  public let key: String
  public let value: PropertyListValue?
  /// The layer that `value` comes from, nil when no layer has the key.
  public let winner: Layer?
  /// Every store of the search list, in the order of asking, those behind the winner included.
  public let considered: [Candidate]
  /// Who forces, in rank order; empty unless `winner` is `.forced`.
  public let forcedBy: [ForcedBy]
  /// The forced domain of this installed host can't be read: every key counts as forced, and only the registration
  /// layer answers.
  public let isForcedDomainUnavailable: Bool

  public var isForced: Bool { isForcedDomainUnavailable || winner == .forced }
}
