import Foundation

/// What a test of another implementation expects: a row of the files in `oracles`, in the shared data beside the package.
struct OracleRow: Decodable {
  let id: String
  let calls: [String]
  /// Phrases, each of which must be true. Numbers and booleans are their text.
  let expected: [String]

  private enum CodingKeys: CodingKey { case id, calls, expected }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    calls = try container.decode([String].self, forKey: .calls)
    expected = try container.decode([Phrase].self, forKey: .expected).map(\.text)
  }

  private struct Phrase: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let flag = try? container.decode(Bool.self) {
        text = "\(flag)"
      } else if let number = try? container.decode(Double.self) {
        text = Self.text(number)
      } else {
        text = try container.decode(String.self)
      }
    }

    static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
  }

  /// The text of a number in `expected`.
  static func text(_ number: Double) -> String { Phrase.text(number) }
}

/// One implementation's rows, and how each is run.
protocol Oracle {
  /// The rows' file.
  static var file: String { get }
  /// Which of the file's rows are about this package; others of the same file are not.
  static func isOurs(_ id: String) -> Bool

  init() throws
  /// Makes the calls of a row and tells, in the words of its `expected`, what is true then; nil when there is no way to
  /// make them. Rows come in the order of the file.
  mutating func observe(_ row: OracleRow) async throws -> Set<String>?
}

extension Oracle {
  static func isOurs(_ id: String) -> Bool { true }

  /// The rows; nil when the shared data is not there.
  static func rows() throws -> [OracleRow]? {
    guard let url = Oracles.shared("oracles/\(file).json") else { return nil }
    return try JSONDecoder().decode(Oracles.File.self, from: Data(contentsOf: url)).assertions.filter { isOurs($0.id) }
  }
}

enum Oracles {
  struct File: Decodable { let assertions: [OracleRow] }

  static let package: URL = {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return root
  }()

  /// A file of `shared`, beside the package or beside the folder that the package is a worktree in.
  static func shared(_ path: String) -> URL? {
    let folder = package.deletingLastPathComponent()
    return [folder, folder.deletingLastPathComponent()].map { $0.appending(path: "shared/" + path) }
      .first { FileManager.default.isReadableFile(atPath: $0.path) }
  }

  /// The ids in the table of deviations in the documentation, each with its reason.
  static func documentedDeviations() throws -> [String: String] {
    let file = package.appending(path: "Documentation/for-application-developers.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let heading = "## Against the tests of other implementations\n"
    guard let start = text.range(of: heading)?.upperBound else { return [:] }
    let section = text[start...].prefix(upTo: text[start...].range(of: "\n## ")?.lowerBound ?? text.endIndex)
    var deviations: [String: String] = [:]
    for line in section.split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      for id in cells[0].matches(of: /`([^`]+)`/) { deviations[String(id.1)] = cells[1] }
    }
    return deviations
  }
}
