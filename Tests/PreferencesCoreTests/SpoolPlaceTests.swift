import AuditEvents
import Glibc
import LinuxFiles
import Testing

@testable import PreferencesCore

/// Events about another home than the process's own wait in that home.
@Suite struct SpoolPlaceTests {
  @Test func eventsWaitInTheHomeThatTheyAreAbout() async {
    let fixture = Fixture()
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let fixture = Fixture(in: directory)
      let own = directory + "/own"
      setenv("HOME", own, 1)
      unsetenv("XDG_STATE_HOME")
      let configuration = SearchList.Configuration(
        domain: Fixture.domain, homeDirectory: fixture.home, installation: fixture.installation, observes: false)
      configuration.sink.send(.forcedWrite(of: "k", inDomain: "d", operation: "set", profiles: []))
      configuration.sink.flush()
      let names = try Directory.names(in: fixture.home + "/.local/state/managed-preferences")
      #expect(names.contains { $0.hasSuffix(".jsonl") })
      #expect(throws: FileError.self) { try Directory.names(in: own) }
    }
  }
}
