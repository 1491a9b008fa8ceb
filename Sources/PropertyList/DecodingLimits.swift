/// Bounds on what a decoder takes in, so that no input costs more than it should.
///
/// All limits hold for what a file means, not for how it is written: a value that a binary file shares counts each time
/// it is referred to, so a small file cannot stand for a huge value.
public struct DecodingLimits: Sendable, Hashable {
  /// How deep containers may nest. A scalar has depth 0, an empty array 1.
  public var maximumDepth: Int
  /// How many bytes the input may have.
  public var maximumBytes: Int
  /// How many values and keys there may be, containers included.
  public var maximumObjects: Int
  /// How many bytes strings and data may have together.
  public var maximumExpandedBytes: Int

  /// Limits of one's own; what is not given is as in `default`.
  public init(
    maximumDepth: Int = 512, maximumBytes: Int = 64 << 20, maximumObjects: Int = 2_000_000,
    maximumExpandedBytes: Int = 256 << 20
  ) {
    self.maximumDepth = maximumDepth
    self.maximumBytes = maximumBytes
    self.maximumObjects = maximumObjects
    self.maximumExpandedBytes = maximumExpandedBytes
  }

  /// What files get: 512 levels, 64 MiB of input, 2,000,000 values, 256 MiB of text and data.
  public static let `default` = DecodingLimits()
}
