import CommandSandbox
import ConversionRows
import LinuxFiles
import PropertyList
import Testing

/// The rows of the table of conversions through `defaults`: it has no getters that convert, and tells the type and the text.
@Suite struct ConversionTests {
  static let domain = "org.example.conversions"

  /// macOS's words for the types.
  static func word(_ type: PropertyListType) -> String {
    switch type {
    case .string: "string"
    case .integer: "integer"
    case .real: "float"
    case .boolean: "boolean"
    case .date: "date"
    case .data: "data"
    case .array: "array"
    case .dictionary: "dictionary"
    }
  }

  static let rows = ConversionRow.all.enumerated().map { ("k\($0)", $1) }

  private func expectRows(_ rows: [(String, ConversionRow)], in sandbox: Sandbox) {
    for (key, row) in rows {
      let type = sandbox.defaults("read-type", Self.domain, key)
      #expect(type.exitCode == 0 && type.output == "Type is \(Self.word(row.stored.type))\n", "\(row): \(type)")
      let text = sandbox.defaults("read", Self.domain, key)
      #expect(text.exitCode == 0 && text.output == row.printed + "\n", "\(row): \(text)")
    }
  }

  @Test func outOfTheUsersFile() throws {
    let sandbox = try Sandbox()
    let values = Dictionary(uniqueKeysWithValues: Self.rows.map { ($0, $1.stored) })
    try Directory.createAll(sandbox.configuration)
    try AtomicReplacement.write(
      PropertyListCoding.encode(.dictionary(values), as: .binary), to: "\(sandbox.configuration)/\(Self.domain).plist",
      mode: 0o600)
    expectRows(Self.rows, in: sandbox)
  }

  /// What JSON can hold is YAML, too.
  @Test func outOfTheForcedDomain() throws {
    let rows = Self.rows.filter { _, row in
      switch row.stored {
      case .string(let text): !text.utf8.contains(0)
      case .integer(let number): Int64(number.description) != nil
      case .real(let number): number.isFinite
      case .date, .data: false
      case .boolean, .array, .dictionary: true
      }
    }
    let members = try rows.map { key, row in
      "    \(key): "
        + String(decoding: try PropertyListCoding.encode(row.stored, as: .json), as: UTF8.self)
        .filter { $0 != "\n" }
    }
    let sandbox = try Sandbox(policy: "forced:\n  \(Self.domain):\n\(members.joined(separator: "\n"))\n")
    expectRows(rows, in: sandbox)
    let (key, row) = try #require(rows.first)
    let refused = sandbox.defaults("write", Self.domain, key, "x")
    #expect(refused.exitCode == 77, "\(row): \(refused)")
  }
}
