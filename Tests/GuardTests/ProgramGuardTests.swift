import Foundation
import Testing

/// Tests start programs in one way (`Tests/TestPrograms`): with no descriptor of a stranger's and with an end to every wait. Each
/// other way has at some time let one test hold up another for ever.
@Suite struct ProgramGuardTests {
  /// What starts a program, and where it may stand. A child without threads is forked in a test's own process
  /// (`processExitsWith`), since what another test's thread holds at that moment stays held in the child.
  static let ways: [(way: String, allowed: Set<String>)] = [
    (" Process" + "()", []), ("Process" + ".run(", []), ("posix" + "_spawn", ["programs.c"]),
    (" p" + "open(", []), (" sys" + "tem(", []),
    (" fo" + "rk()", ["EndOfProcessTests.swift", "ProcessTests.swift", "escape.c"]),
    ("\"fo" + "rk\")", ["ProcessTests.swift", "ForkedProcessTests.swift"]),
  ]

  @Test func oneRoomStartsPrograms() throws {
    let tests = ImportGuardTests.packageRoot.appendingPathComponent("Tests")
    let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
    var found: [String] = []
    var used: Set<String> = []
    for case let file as URL in files where ["swift", "c"].contains(file.pathExtension) {
      let name = file.lastPathComponent
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        for (way, allowed) in Self.ways where line.contains(way) && !line.contains("func ") {
          if allowed.contains(name) { used.insert(name) } else { found.append("\(name): \(line)") }
        }
      }
    }
    #expect(found == [])
    #expect(used == Self.ways.reduce(into: []) { $0.formUnion($1.allowed) }, "each exception is one")
  }
}
