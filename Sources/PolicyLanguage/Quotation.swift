/// How much of its source line a diagnostic shows.
public enum Quotation: Hashable, Sendable {
  case line
  /// The key that the line begins with, through this column; an ellipsis stands for the rest.
  case key(through: UInt32)
  case nothing
}

extension SourceText {
  /// The quotation of a line's key, without its value.
  ///
  /// - Parameters:
  ///   - column: where the first key of the line begins.
  ///   - length: its scalars, quotes included; 0 where it goes over several lines.
  /// - Returns: `nothing` where something else than indentation and the marks of lists and mappings stands before the
  ///   key: that may be the end of a value.
  static func quotation(of line: some Collection<UInt8>, keyAt column: UInt32, length: UInt32) -> Quotation {
    guard length > 0, onlyMarks(in: line, before: column) else { return .nothing }
    return .key(through: column + length - 1)
  }

  /// Whether a key is made as names of preferences are: of letters, digits, `.`, `_`, `-` and `/`. In any other there may be a piece of
  /// a value, where a quote or a colon is missing.
  static func isName(_ key: some Collection<UInt8>) -> Bool {
    !key.isEmpty
      && key.allSatisfy { 0x61...0x7A ~= $0 | 0x20 || 0x30...0x39 ~= $0 || $0 >= 0x80 || "._-/".utf8.contains($0) }
  }

  /// Whether a line begins with nothing but blanks, `-`, `?`, `{`, `[` and `,` up to a column.
  static func onlyMarks(in line: some Collection<UInt8>, before column: UInt32) -> Bool {
    line.prefix(Int(column) - 1).allSatisfy { " -?{[,".utf8.contains($0) }
  }
}
