import Foundation
import Testing

/// Standard error is written in one way (`LinuxFiles.StandardStreams`), which no full disk and no closed descriptor makes fatal, and
/// what is said there is escaped whole but for the few texts that are made for terminals.
@Suite struct StandardErrorGuardTests {
  /// Ways to write, and the files that may use them.
  static let ways: [(way: String, allowed: Set<String>)] = [
    ("FileHandle.standard", []), ("fputs(", []), ("fwrite(", []), ("vfprintf(", []), ("fprintf(", []), ("perror(", []),
    ("debugPrint(", []), (" NSLog(", []), ("STDERR_FILENO,", []),
    // A pipe that is closed at exec only a moment later is another program's until then: `LinuxFiles.Pipe`.
    (" pi" + "pe(", []), ("=pi" + "pe(", []),
    // Failures, whose text is escaped line by line; colours and marks below sources; questions that end without a new line.
    (
      "StandardStreams.writeError(",
      [
        "Policyctl.swift", "Policyd.swift", "Defaults.swift", "AuditExportVerb.swift", "ReportVerb.swift",
        "CompileVerb.swift", "ContainersVerb.swift", "AuditTendingVerbs.swift", "HistorySite.swift",
        "PolicyFolder.swift",
        "ReportCollection.swift",
      ]
    ),
  ]

  @Test func oneFunctionWritesMessages() throws {
    let sources = ImportGuardTests.packageRoot.appendingPathComponent("Sources")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var found: [String] = []
    var used: Set<String> = []
    for case let file as URL in files where ["swift", "c"].contains(file.pathExtension) {
      let name = file.lastPathComponent
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        for (way, allowed) in Self.ways where line.contains(way) {
          if allowed.contains(name) { used.insert(name) } else { found.append("\(name): \(line)") }
        }
      }
    }
    #expect(found == [])
    #expect(used == Self.ways.reduce(into: []) { $0.formUnion($1.allowed) }, "each exception is one")
  }
}
