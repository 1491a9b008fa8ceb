import Foundation
import Testing

@testable import ManagedPreferences

/// What an application's library says on standard error: it never ends the application, and nothing in it is the terminal's.
@Suite struct StandardErrorTests {
  /// Says each of the sentences that are about a refusal.
  private static func refuse() throws {
    let folder = try StoreFolder()
    folder.store().set(true, forKey: String(repeating: "\u{1b}[2J", count: 20))
    _ = ManagedDefaults(suiteName: "\u{1b}[2J/x")
    _ = ManagedDefaults(user: "\u{1b}[2J")
    ManagedDefaults.standard.addSuite(named: "\u{1b}[2J/x")
  }

  @Test(arguments: ["full", "closed", "left"])
  func aRefusalThatCannotBeToldEndsNoApplication(_ kind: String) async {
    await #expect(processExitsWith: .success) { [kind = kind as String] in
      // The tests say more there at the end.
      let own = dup(STDERR_FILENO)
      switch kind {
      case "full":
        let full = open("/dev/full", O_WRONLY)
        if full < 0 || dup2(full, STDERR_FILENO) < 0 { exit(1) }
      case "closed": close(STDERR_FILENO)
      default:
        signal(SIGPIPE, SIG_DFL)
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) != 0 || close(ends[0]) != 0 || dup2(ends[1], STDERR_FILENO) < 0 { exit(1) }
      }
      try Self.refuse()
      dup2(own, STDERR_FILENO)
    }
  }

  @Test func keysAndNamesAreEscaped() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { try Self.refuse() }
    let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
    let own = lines.filter { $0.hasPrefix("ManagedDefaults: ") || $0.hasPrefix("UbiquitousKeyValueStore: ") }
    #expect(own.count == 4, "\(lines)")
    for line in lines { #expect(!line.contains("\u{1b}")) }
    for line in own { #expect(line.contains("\\u{1b}[2J"), "\(line)") }
  }

  @Test func aKeyInTheLastWordsIsEscaped() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Sandbox().defaults().set(UUID(), forKey: "\u{1b}[2J")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("the value for the key \"\\u{1b}[2J\" can't be stored"), "\(text)")
  }
}
