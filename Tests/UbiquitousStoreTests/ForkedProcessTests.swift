import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import UbiquitousStore

/// What the child of a fork may do with its parent's store, and what it must not keep.
@Suite struct ForkedProcessTests {
  /// Swift hides `fork`; in a test's own process there is no other test's thread.
  private static let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)

  @Test func theChildReadsAndEditsNothing() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path + "/ubiquity/store.sqlite" as String] in
      var options = SyncedStore.Options()
      options.saveDelay = 3600
      let store = SyncedStore(
        application: "com.example.Fork", backEnd: SQLiteBackEnd(path: path), options: options)
      try store.set("k", to: .string("parent"))
      try #require(store.synchronize())
      // What the store's own thread holds at the moment of a fork stays held in the child. It has nothing left to do but to look
      // once more; a child that waits for it all the same is ended by its alarm, and another one made.
      var (child, status): (pid_t, Int32) = (-1, SIGALRM)
      for _ in 0..<20 where status & 0x7f == SIGALRM {
        usleep(500_000)
        child = Self.fork()
        if child == 0 { break }
        waitpid(child, &status, 0)
      }
      if child == 0 {
        alarm(20)
        guard store.value("k") == .string("parent") else { _exit(1) }
        do throws(StoreRefusal) {
          try store.set("k", to: .string("child"))
          _exit(2)
        } catch {
          let text =
            "the key \"k\" is not changed: a forked process leaves the synced store to its parent; start a program instead"
          guard error.limit == .forkedProcess, "\(error)" == text else { _exit(3) }
        }
        store.remove("k")
        guard store.value("k") == .string("parent"), !store.synchronize() else { _exit(4) }
        // A normal end, with all that does then.
        exit(0)
      }
      #expect(status == 0)
      try store.set("k", to: .string("parent again"))
      #expect(store.synchronize())
      let other = SyncedStore(application: "com.example.Fork", backEnd: SQLiteBackEnd(path: path))
      #expect(other.value("k") == .string("parent again"))
    }
  }

  /// Who relays is told by a lock. A child that runs on must not keep it when its parent is gone.
  @Test func theChildKeepsNoLock() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lock"
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try FileLock.exclusive(path)
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      if Self.fork() == 0 {
        // The tests wait for the end of what they read of their process; only what the lock was stays open.
        for descriptor in 0..<Int32(256) where descriptor != ends[1] {
          let target = SymbolicLink.target(of: "/proc/self/fd/\(descriptor)") ?? ""
          if !target.hasSuffix("/lock") && target != "/dev/null" { close(descriptor) }
        }
        _ = write(ends[1], "x", 1)
        close(ends[1])
        sleep(60)
        // Else it would be let go here before.
        _ = consume lock
        _exit(0)
      }
      var byte: UInt8 = 0
      #expect(read(ends[0], &byte, 1) == 1)
      kill(getpid(), SIGKILL)
      _ = consume lock
    }
    _ = try FileLock.exclusive(path, timeout: 5)
  }
}
