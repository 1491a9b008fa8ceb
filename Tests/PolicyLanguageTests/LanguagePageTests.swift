import LinuxFiles
import PolicyLanguage
import PropertyList
import Testing

/// Documentation/policy-language.md says what the program does: its tables have the fields that the decoder knows, and
/// its examples are a policy tree without a mistake.
@Suite struct LanguagePageTests {
  let page: [Substring]

  init() throws {
    let path = FilePath.join(FilePath.parent(of: DiagnosticTableTests.page), "policy-language.md")
    let text = String(decoding: try WholeFile.read(path).bytes, as: UTF8.self)
    page = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The fields of one mapping, each with whether it must be there.
  private typealias Fields = [String: Bool]

  /// The tables of fields: what stands below `| field |`.
  private var tables: [Fields] {
    get throws {
      var tables: [Fields] = []
      var isInside = false
      for line in page {
        if line.hasPrefix("| field |") {
          tables.append([:])
          isInside = true
        } else if !line.hasPrefix("|") {
          isInside = false
        } else if isInside && !line.hasPrefix("|---") {
          let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.split(separator: " ") }
          let columns = cells.dropFirst().dropLast()
          #expect(columns.count == 5 && columns.allSatisfy { !$0.isEmpty }, "\(line)")
          let name = try #require(columns.first?.first)
          tables[tables.count - 1][String(name.dropFirst().dropLast())] = columns.dropFirst(2).first == ["required"]
        }
      }
      return tables
    }
  }

  private static func shapes(in value: PropertyListValue, into shapes: inout [(path: String, Fields)], path: String) {
    if case .array(let elements) = value {
      for element in elements { Self.shapes(in: element, into: &shapes, path: path) }
    }
    guard case .dictionary(let members) = value else { return }
    if case .dictionary(let properties)? = members["properties"] {
      var required: [String] = []
      if case .array(let names)? = members["required"] { required = names.compactMap(\.stringValue) }
      shapes.append((path, Dictionary(uniqueKeysWithValues: properties.keys.map { ($0, required.contains($0)) })))
    }
    for (name, member) in members.sorted(by: { $0.key < $1.key }) {
      Self.shapes(in: member, into: &shapes, path: "\(path).\(name)")
    }
  }

  /// Each mapping of the language has a table of exactly its fields, and no table has any other.
  @Test func tablesHaveTheFieldsOfTheLanguage() throws {
    guard case .dictionary(let schema) = PolicySchema.jsonSchema(), let definitions = schema["$defs"] else {
      Issue.record("no definitions")
      return
    }
    var shapes: [(path: String, Fields)] = []
    Self.shapes(in: definitions, into: &shapes, path: "$")
    let tables = try tables
    #expect(shapes.count > 20)
    for (path, fields) in shapes { #expect(tables.contains(fields), "\(path): \(fields.keys.sorted())") }
    for table in tables { #expect(shapes.contains { $0.1 == table }, "\(table.keys.sorted())") }
  }

  private var examples: [String] {
    var blocks: [String] = []
    var isInside = false
    for line in page {
      if line == "```yaml" {
        blocks.append("")
        isInside = true
      } else if line == "```" {
        isInside = false
      } else if isInside {
        blocks[blocks.count - 1] += line + "\n"
      }
    }
    return blocks
  }

  @Test func examplesAreATreeWithoutMistakes() {
    let sources = examples.enumerated().map { (path: "\($0 + 10).yaml", bytes: Array($1.utf8)) }
    let tree = PolicyTreeLoader.load(sources: sources, now: CaseTests.now)
    #expect(tree.diagnostics.isEmpty, "\(DiagnosticRenderer(sources: tree.sources).render(tree.diagnostics))")
    #expect(tree.sources.count >= 10)
    #expect(tree.profiles.count >= 8 && tree.manifests.count == 2 && tree.tests.count == 2 && tree.inventory != nil)
  }

  /// The limits that the page names are those that hold.
  @Test func limits() {
    let text = page.joined(separator: "\n")
    #expect(YAMLStream.Limits.fileBytes == 16 << 20 && text.contains("| a file | 16 MiB |"))
    #expect(YAMLStream.Limits.depth == 64 && text.contains("inside each other | 64 |"))
    #expect(YAMLStream.Limits.nodes == 1_000_000 && text.contains("| values of a file | 1,000,000 |"))
    #expect(YAMLStream.Limits.documents == 10_000 && text.contains("| documents of a file | 10,000 |"))
    #expect(YAMLStream.Limits.aliasedNodes == 100_000 && YAMLStream.Limits.aliasedBytes == 4 << 20)
    #expect(text.contains("in the whole tree | 100,000 values, 4 MiB of text |"))
  }
}
