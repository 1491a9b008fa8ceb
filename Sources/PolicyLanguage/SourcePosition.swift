/// A place in a source file: what every diagnostic, explanation and provenance record points at.
///
/// Lines and columns count from 1; columns count Unicode scalars, a byte-order mark and carriage returns excepted, so
/// that the same text has the same positions in UTF-8, UTF-16, with LF and with CRLF.
public struct SourcePosition: Hashable, Sendable, Comparable {
  public var line: UInt32
  public var column: UInt32
  /// Scalars to underline; 0 where the extent is unknown or goes over several lines.
  public var length: UInt32

  public init(line: UInt32, column: UInt32, length: UInt32 = 0) {
    self.line = line
    self.column = column
    self.length = length
  }

  /// The start of a file: for what concerns the file as a whole.
  public static let start = SourcePosition(line: 1, column: 1)

  public static func < (a: Self, b: Self) -> Bool {
    (a.line, a.column, a.length) < (b.line, b.column, b.length)
  }
}

/// A decoded value and where it was written.
public struct Located<Value: Sendable>: Sendable {
  public let value: Value
  public let position: SourcePosition

  public init(_ value: Value, at position: SourcePosition) {
    self.value = value
    self.position = position
  }
}

extension Located: Equatable where Value: Equatable {}
extension Located: Hashable where Value: Hashable {}
