import BackEndConformance
import Foundation
import LinuxFiles
import Synchronization
import Testing

@testable import UbiquitousStore

/// What a relay does when its process, or its store, comes to an end in the middle of an exchange.
@Suite struct RelayEndTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store.sqlite" }

  init() throws { folder = try TemporaryFolder() }

  /// Another machine whose first answer can be waited for.
  private final class SlowBackEnd: StoreBackEnd {
    let isAsked = DispatchSemaphore(value: 0)
    let isToAnswer = DispatchSemaphore(value: 0)
    private let answered = Atomic(false)
    var hasAnswered: Bool { answered.load(ordering: .acquiring) }
    private let contents = MemoryBackEnd(MemoryServer(clock: { 0 }, refusesClocks: false), account: "maria")

    func account() throws(BackEndError) -> String {
      if !hasAnswered {
        isAsked.signal()
        isToAnswer.wait()
        answered.store(true, ordering: .releasing)
      }
      return try contents.account()
    }
    func changes(in store: StoreID, after cursor: StoreCursor?) throws(BackEndError) -> StoreChanges {
      try contents.changes(in: store, after: cursor)
    }
    func push(_ records: [StoreRecord], to store: StoreID) throws(BackEndError) -> [PushOutcome] {
      try contents.push(records, to: store)
    }
    func watch(_ store: StoreID, hint: @escaping @Sendable () -> Void) -> any ChangeWatch {
      contents.watch(store, hint: hint)
    }
  }

  private func store() -> SyncedStore {
    var options = SyncedStore.Options()
    options.report = { _ in }
    return SyncedStore(application: "com.example.Peer", backEnd: SQLiteBackEnd(path: path), options: options)
  }

  /// The exchange would open the file again: SQLite then leaves its log behind.
  @Test(arguments: [true, false]) func anExchangeUnderWayIsWaitedFor(closes: Bool) throws {
    let (store, far) = (store(), SlowBackEnd())
    store.relay(to: far)
    far.isAsked.wait()
    Thread.detachNewThread {
      usleep(200_000)
      far.isToAnswer.signal()
    }
    if closes {
      store.close(within: 120)
    } else {
      store.finishRelay(within: 120)
      store.letGo()
    }
    #expect(far.hasAnswered)
    #expect(throws: FileError.self) { try FileMetadata.of(path + "-wal") }
  }

  /// Nobody waits for ever for a machine that does not answer.
  @Test func aMachineThatDoesNotAnswerHoldsUpNoEnd() throws {
    let (store, far) = (store(), SlowBackEnd())
    store.relay(to: far)
    far.isAsked.wait()
    store.finishRelay(within: 0.1)
    store.letGo()
    #expect(!far.hasAnswered)
    far.isToAnswer.signal()
  }
}
