/// What a decoder of a text format has used up of its limits.
struct DecodingBudget {
  private let limits: DecodingLimits
  private var objects = 0
  private var bytes = 0

  init(_ limits: DecodingLimits) { self.limits = limits }

  /// Counts one value or key.
  mutating func object() -> PropertyListError.Reason? {
    objects += 1
    return objects > limits.maximumObjects ? .tooManyObjects(limit: limits.maximumObjects) : nil
  }

  /// Counts the bytes of a string or of data.
  mutating func content(_ count: Int) -> PropertyListError.Reason? {
    bytes += count
    return bytes > limits.maximumExpandedBytes ? .expansionTooLarge(limit: limits.maximumExpandedBytes) : nil
  }

  /// Checks the depth of a container that is about to be entered from `depth` containers.
  func enter(from depth: Int) -> PropertyListError.Reason? {
    depth >= limits.maximumDepth ? .tooDeep(limit: limits.maximumDepth) : nil
  }
}
