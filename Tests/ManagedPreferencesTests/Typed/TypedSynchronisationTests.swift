import AuditEvents
import Foundation
import PropertyList
import Synchronization
import Testing

@testable import ManagedPreferences

/// What becomes of assignments where the disk can't be had at once.
@Suite struct TypedSynchronisationTests {
  private let sandbox: Sandbox
  private var locks: String { sandbox.configuration + "/managed-preferences/locks" }

  init() throws { sandbox = try Sandbox() }

  private final class CountPrefs: Preferences {
    @Preference var count = 0
  }

  private func stored() -> PropertyListValue? {
    let path = sandbox.configuration + "/\(Sandbox.application).plist"
    guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
    return (try? PropertyListCoding.decode([UInt8](data)))?.dictionaryValue?["count"]
  }

  /// Twenty of the ten seconds that `synchronize` waits for a lock would be more than three minutes.
  @Test("D15: a lock that another process keeps holds up no assignment") func aLockedDomainHoldsUpNoAssignment() throws
  {
    let prefs = CountPrefs(userDefaults: sandbox.defaults())
    let lock = try withoutBackgroundWriting {
      prefs.count = 1
      #expect(stored() == .integer(1))
      let lock = open("\(locks)/\(Sandbox.application).lock", O_RDWR | O_CLOEXEC)
      try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
      return lock
    }
    let start = ContinuousClock.now
    for count in 2...21 {
      prefs.count = count
      #expect(prefs.count == count)
    }
    #expect(ContinuousClock.now - start < .seconds(190))
    #expect(stored() == .integer(1), "nothing goes past the lock")
    close(lock)
    // In the background, though nobody asks for it.
    let end = ContinuousClock.now + .seconds(60)
    while stored() != .integer(21), ContinuousClock.now < end { usleep(10_000) }
    #expect(stored() == .integer(21))
    // The writer may not have come to its end yet.
    #expect(prefs.synchronize())
    try withoutBackgroundWriting {
      prefs.count = 22
      #expect(stored() == .integer(22), "waited for again")
    }
  }

  @Test func whatCannotBeWrittenIsToldAndNotForgotten() throws {
    struct Sink: AuditEventSink {
      final class Events: Sendable { let all = Mutex<[String]>([]) }
      let events = Events()
      func send(_ event: AuditEvent) { events.all.withLock { $0.append(event.kind.rawValue) } }
    }
    let sink = Sink()
    // Also root can make no folder below a file.
    try Data().write(to: URL(filePath: sandbox.configuration + "/managed-preferences"))
    let prefs = CountPrefs(userDefaults: sandbox.defaults(sink: sink))
    // Told by this thread, before the call returns.
    try withoutBackgroundWriting { prefs.count = 7 }
    #expect(prefs.count == 7)
    #expect(!prefs.synchronize())
    #expect(sink.events.all.withLock { $0 } == ["domain.unwritable"])
    try FileManager.default.removeItem(atPath: sandbox.configuration + "/managed-preferences")
    #expect(prefs.synchronize())
    #expect(stored() == .integer(7))
  }
}
