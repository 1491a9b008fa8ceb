import Foundation
import Testing

/// What the tests of corelibs, GNUstep, property-list libraries, PAPreferences and Defaults expect, one printed line for each row.
///
/// A row passes, or the documentation lists it as a deviation with the reason. The list is exact: a listed row that passes
/// fails here too, and so does a row that nothing runs. `Scripts/oracles` prints the lines alone.
// Without the data there is nothing to hold us against: that is printed, and shows as a skipped test.
@Suite struct OracleTests {
  static var oracles: [any Oracle.Type] {
    [
      CorelibsOracle.self, GNUstepOracle.self, PropertyListOracle.self, GNUstepUbiquitousOracle.self,
      UbiquitousPeersOracle.self, PAPreferencesOracle.self, DefaultsOracle.self, RoamingOracle.self,
    ]
  }

  static let isThere: Bool = {
    let isThere = oracles.allSatisfy { Oracles.shared("oracles/\($0.file).json") != nil }
    if !isThere { print("oracle: SKIPPED: shared data not found") }
    return isThere
  }()

  @Test(.enabled(if: isThere, "the oracles lie beside the package")) func everyRow() async throws {
    let documented = try Oracles.documentedDeviations()
    var ids: Set<String> = []
    var (passed, deviating) = (0, 0)
    for type in Self.oracles {
      var oracle = try type.init()
      for row in try #require(try type.rows()) {
        #expect(ids.insert(row.id).inserted, "\(row.id) stands twice")
        let observed = try await oracle.observe(row)
        let missing = row.expected.filter { observed?.contains($0) != true }
        switch (missing.isEmpty, documented[row.id]) {
        case (true, nil):
          passed += 1
          print("oracle \(row.id): pass")
        case (false, let reason?):
          deviating += 1
          print("oracle \(row.id): deviates: \(reason)")
        case (true, _?):
          print("oracle \(row.id): FAIL: passes, and is listed as a deviation")
          Issue.record("\(row.id) passes, and the documentation lists it as a deviation")
        case (false, nil):
          let found = observed?.sorted().joined(separator: "; ") ?? "no way to run it"
          print("oracle \(row.id): FAIL: \(missing.joined(separator: "; ")) (found: \(found))")
          Issue.record("\(row.id): missing \(missing), found \(found)")
        }
      }
    }
    print("oracles: \(ids.count) rows, \(passed) pass, \(deviating) deviate as the documentation says")
    #expect(Set(documented.keys).subtracting(ids).isEmpty, "deviations of rows that there are none of")
    #expect(!ids.isEmpty && passed > deviating)
  }
}
