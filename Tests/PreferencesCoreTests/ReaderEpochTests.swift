import CReaderEpoch
import Glibc
import PropertyList
import Synchronization
import Testing

@testable import PreferencesCore

@Suite(.serialized) struct ReaderEpochTests {
  /// One at a time, as under the engine's lock.
  private func allReadsEnded(tries: UInt32) -> Bool { Engine.shared.lock.withLock { reader_epoch_wait(tries) } }

  @Test func anOpenReadHoldsBackTheReclaimer() {
    let section = reader_epoch_enter()
    #expect(!allReadsEnded(tries: 3))
    let inner = reader_epoch_enter()
    reader_epoch_exit(inner)
    #expect(!allReadsEnded(tries: 3), "the inner read's end does not end the outer one")
    reader_epoch_exit(section)
    #expect(eventually { allReadsEnded(tries: 100) })
  }

  /// In a process of its own: the records of other tests' threads count as well.
  @Test func aThreadThatEndsReturnsItsRecord() async {
    await #expect(processExitsWith: .success) {
      func runReaders() {
        for _ in 0..<50 {
          var thread = pthread_t()
          pthread_create(
            &thread, nil,
            { _ in
              reader_epoch_exit(reader_epoch_enter())
              return nil
            }, nil)
          pthread_join(thread, nil)
        }
      }
      runReaders()
      var before: UInt32 = 0
      var owned: UInt32 = 0
      reader_epoch_count(&before, &owned)
      runReaders()
      var after: UInt32 = 0
      reader_epoch_count(&after, &owned)
      #expect(after == before, "50 threads, one after the other, must not need 50 records")
    }
  }

  /// Readers on four threads while one publishes: what is read is whole, and what is freed is not read (sanitizers).
  @Test func readersSeeWholeValuesWhileTablesAreReplaced() {
    let fixture = Fixture()
    let list = fixture.list()
    list.register(["text": "generation 0 generation 0", "list": .array([0, 0])])
    let isOver = Atomic<Bool>(false)
    let wrong = Atomic<Int>(0)
    let reads = Atomic<Int>(0)
    let reading = Atomic<Int>(0)
    @Sendable func check() {
      var count = 0
      reading.add(1, ordering: .relaxed)
      repeat {
        if let text = list.string("text") {
          let words = text.split(separator: " ")
          if words.count != 4 || words[1] != words[3] { wrong.add(1, ordering: .relaxed) }
        } else {
          wrong.add(1, ordering: .relaxed)
        }
        if let pair = list.array("list"), pair.count != 2 || pair[0] != pair[1] { wrong.add(1, ordering: .relaxed) }
        if list.isForced("text") { wrong.add(1, ordering: .relaxed) }
        count += 1
      } while !isOver.load(ordering: .relaxed)
      reads.add(count, ordering: .relaxed)
    }
    let worker: @Sendable (Int) -> Void = { _ in check() }
    withThreads(4, worker) {
      #expect(eventually { reading.load(ordering: .relaxed) == 4 })
      for round in 1...3000 {
        list.set(.string("generation \(round) generation \(round)"), forKey: "text")
        let number = PropertyListValue.integer(PropertyListInteger(round))
        list.set(.array([number, number]), forKey: "list")
        if round % 100 == 0 { _ = list.state.fill(Engine.shared, .receiver, domain: nil) }
      }
      isOver.store(true, ordering: .relaxed)
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(reads.load(ordering: .relaxed) > 0)
    #expect(list.string("text") == "generation 3000 generation 3000")
  }
}
