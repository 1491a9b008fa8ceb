/// Why bytes are no forced domain that this reader may use, or can't become one.
///
/// One error concerns the whole file: a reader uses all of it or none, never a part.
public struct ForcedDomainError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Reason: Sendable, Hashable {
    /// Shorter than a header.
    case tooShort
    /// Does not begin with the magic bytes.
    case notAForcedDomain
    /// Needs a newer reader; holds the version it needs.
    case needsNewerReader(UInt16)
    /// The header states another length than the file has: cut off, or appended to.
    case length(stated: UInt64, actual: UInt64)
    /// The checksum does not fit: damaged in storage or in transit.
    case checksum
    /// Sound, but of another kind than the caller may use.
    case unexpectedKind(FileKind)
    /// The checksum fits, but the contents contradict themselves; says what.
    case damaged(String)
    /// More than the format can hold; says what. From the writer, or for a file above the size limit.
    case tooLarge(String)
  }

  public let reason: Reason
  /// Bytes from the start of the file.
  public let offset: Int

  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  public var description: String {
    switch reason {
    case .tooShort: "no forced domain: \(offset) bytes are shorter than a header"
    case .notAForcedDomain: "no forced domain: the first bytes are not its mark"
    case .needsNewerReader(let version):
      "the forced domain needs a reader of version \(version); this one is version \(Format.version)"
    case .length(let stated, let actual):
      "the forced domain is damaged: its header states \(stated) bytes, the file has \(actual)"
    case .checksum: "the forced domain is damaged: its checksum does not fit"
    case .unexpectedKind(let kind): "a file of the kind '\(kind)' can't stand here"
    case .damaged(let what): "the forced domain is damaged at byte \(offset): \(what)"
    case .tooLarge(let what): "too large for a forced domain: \(what)"
    }
  }
}
