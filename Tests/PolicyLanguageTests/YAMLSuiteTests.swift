import LinuxFiles
import PolicyLanguage
import PropertyList
import Testing

/// The public yaml-test-suite, beside the package: our reading accepts and refuses what libyaml 0.2.5 does, and where
/// libyaml is right, yields the suite's own JSON.
@Suite struct YAMLSuiteTests {
  static let folder = FilePath.join(
    FilePath.parent(of: FilePath.parent(of: FilePath.parent(of: FilePath.parent(of: #filePath)))),
    "shared/data/yaml-test-suite")

  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let status: String
    var testDescription: String { "\(id) \(status)" }
    var path: String { FilePath.join(YAMLSuiteTests.folder, "data/" + id.replacing(":", with: "/")) }
  }

  static let rows: [Row] = {
    guard let table = try? WholeFile.read(FilePath.join(folder, "LIBYAML-0.2.5.tsv")).bytes else {
      print("SKIPPED: shared data not found (\(folder))")
      return []
    }
    return String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst().map { line in
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
      return Row(id: String(columns[0]), status: String(columns[1]))
    }
  }()

  // Without the data there is nothing to compare; the line above says so.
  @Test(.enabled(if: !rows.isEmpty), arguments: rows)
  func suite(row: Row) throws {
    let bytes = try WholeFile.read(FilePath.join(row.path, "in.yaml")).bytes
    let stream = YAMLStream(bytes: bytes, path: row.id)
    let isAccepted = ["ok", "ok-flowstyle-differs", "ACCEPTED-INVALID", "WRONG-EVENTS"].contains(row.status)
    #expect(stream.isComplete == isAccepted)
    if !isAccepted {
      let last = try #require(stream.diagnostics.last)
      #expect(last.line > 0 && last.column > 0)
      #expect(last.severity == .error)
    }
    guard row.status.hasPrefix("ok"), let json = try? WholeFile.read(FilePath.join(row.path, "in.json")).bytes else {
      return
    }
    // What our rules refuse (local tags, duplicate keys …) has a coded diagnostic instead of a value.
    if stream.diagnostics.hasErrors {
      #expect(stream.diagnostics.allSatisfy { $0.code != .syntax })
      return
    }
    #expect(stream.documents.map { JSON($0, $0.root) } == (try JSON.stream(json)))
  }
}

/// JSON with nulls, as the suite writes it.
enum JSON: Equatable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(_ tree: NodeTree, _ node: NodeID) {
    switch tree.kind(node) {
    case .null: self = .null
    case .boolean: self = .boolean(tree.boolean(node))
    case .integer: self = .number(Double(tree.integer(node)))
    case .real: self = .number(tree.real(node))
    case .string, .date, .data: self = .string(tree.string(node))
    case .sequence: self = .array(tree.elements(of: node).map { JSON(tree, $0) })
    case .mapping:
      self = .object(
        Dictionary(tree.members(of: node).map { (tree.string($0.key), JSON(tree, $0.value)) }) { first, _ in first })
    }
  }

  struct Malformed: Error {}

  /// Values one after another.
  static func stream(_ bytes: [UInt8]) throws -> [JSON] {
    var reader = Reader(scalars: Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
    var values: [JSON] = []
    while reader.skipBlanks() { values.append(try reader.value()) }
    return values
  }

  private struct Reader {
    let scalars: [Unicode.Scalar]
    var index = 0

    init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    mutating func skipBlanks() -> Bool {
      while index < scalars.count && scalars[index].properties.isWhitespace { index += 1 }
      return index < scalars.count
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
      guard skipBlanks(), scalars[index] == scalar else { return false }
      index += 1
      return true
    }

    mutating func value() throws -> JSON {
      guard skipBlanks() else { throw Malformed() }
      if take("[") {
        var elements: [JSON] = []
        while !take("]") {
          elements.append(try value())
          _ = take(",")
        }
        return .array(elements)
      }
      if take("{") {
        var members: [String: JSON] = [:]
        while !take("}") {
          let key = try string()
          guard take(":") else { throw Malformed() }
          members[key] = try value()
          _ = take(",")
        }
        return .object(members)
      }
      if scalars[index] == "\"" { return .string(try string()) }
      var word = ""
      while index < scalars.count, !scalars[index].properties.isWhitespace,
        !",]}".unicodeScalars.contains(scalars[index])
      {
        word.unicodeScalars.append(scalars[index])
        index += 1
      }
      switch word {
      case "null": return .null
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      default:
        guard let number = Double(word) else { throw Malformed() }
        return .number(number)
      }
    }

    mutating func string() throws -> String {
      guard take("\"") else { throw Malformed() }
      var units: [UInt16] = []
      while index < scalars.count {
        let scalar = scalars[index]
        index += 1
        if scalar == "\"" { return String(decoding: units, as: UTF16.self) }
        guard scalar == "\\" else {
          units.append(contentsOf: String(scalar).utf16)
          continue
        }
        let escape = scalars[index]
        index += 1
        switch escape {
        case "n": units.append(10)
        case "t": units.append(9)
        case "r": units.append(13)
        case "b": units.append(8)
        case "f": units.append(12)
        case "u":
          units.append(UInt16(String(String.UnicodeScalarView(scalars[index..<(index + 4)])), radix: 16)!)
          index += 4
        default: units.append(contentsOf: String(escape).utf16)
        }
      }
      throw Malformed()
    }
  }
}
