import Glibc
import LinuxFiles
import PropertyList
import Synchronization
import TestPrograms
import Testing

@testable import PreferencesCore

/// Many processes of one user at one domain. Sizes of seconds here; `MANAGED_PREFERENCES_FULL_TESTS=1` makes them those of the
/// promises (minutes).
@Suite(.serialized) struct ManyProcessesTests {
  static let isFull = EnvironmentVariables.nonEmpty("MANAGED_PREFERENCES_FULL_TESTS") != nil

  /// Eight processes set keys of their own and one in common; some are killed wherever they are, and others take their
  /// places. The file is whole at each moment, and what was acknowledged is there.
  @Test func eightWritersOfWhichSomeAreKilled() throws {
    let fixture = Fixture()
    fixture.store(["z": 0, "before": "kept"])
    let (sets, batch, kills) = Self.isFull ? (10_000, 100, 24) : (300, 20, 8)
    let isOver = Atomic(false)
    let ended = Atomic(0)
    let reads = Atomic(0)
    let acknowledged = Mutex<[String: Int]>([:])
    let left = Atomic(kills)
    withThreads(9) { number in
      if number == 8 {
        Self.check(fixture, until: isOver, reads)
      } else {
        do {
          try Self.write(fixture, slot: number, sets, batch, left, acknowledged)
        } catch {
          Issue.record("a writer does not start: \(error)")
        }
        if ended.add(1, ordering: .relaxed).newValue == 8 { isOver.store(true, ordering: .releasing) }
      }
    }
    let stored = try #require(fixture.stored())
    let done = acknowledged.withLock { $0 }
    #expect(left.load(ordering: .relaxed) <= 0, "all kills happened")
    #expect(done.count == 8 + kills)
    #expect(stored["before"] == "kept")
    for (name, count) in done {
      for number in 0..<count where stored["\(name).\(number)"] != .integer(PropertyListInteger(number)) {
        Issue.record("\(name).\(number) was acknowledged and is lost")
        break
      }
    }
    #expect(reads.load(ordering: .relaxed) > 0)
    #expect(try Directory.names(in: fixture.configuration).filter { $0.contains(".damaged-") } == [])
    print(
      "8 writers of \(sets) sets, \(kills) of them killed: \(stored.count) keys, \(reads.load(ordering: .relaxed)) whole reads meanwhile"
    )
  }

  /// Runs writers until one has come to its end.
  private static func write(
    _ fixture: Fixture, slot: Int, _ sets: Int, _ batch: Int, _ kills: borrowing Atomic<Int>,
    _ acknowledged: borrowing Mutex<[String: Int]>
  ) throws {
    for attempt in 0... {
      let name = "w\(slot)-\(attempt)"
      acknowledged.withLock { $0[name] = 0 }
      let writer = try Peer.start("write", fixture, name, "\(sets)", "\(batch)")
      let isToBeKilled = kills.subtract(1, ordering: .relaxed).newValue >= 0
      let last = isToBeKilled ? Int.random(in: 0..<sets / batch) : .max
      var lines = 0
      while let line = writer.line() {
        acknowledged.withLock { $0[name] = Int(line)! }
        lines += 1
        if lines > last { break }
      }
      if !isToBeKilled {
        #expect(writer.wait() == 0)
        return
      }
      usleep(UInt32.random(in: 0..<20_000))
      writer.signal(SIGKILL)
      // What it said before it died counts.
      while let line = writer.line() { acknowledged.withLock { $0[name] = Int(line)! } }
      _ = writer.wait()
    }
  }

  private static func check(_ fixture: Fixture, until isOver: borrowing Atomic<Bool>, _ reads: borrowing Atomic<Int>) {
    repeat {
      guard let (bytes, _) = try? WholeFile.read(fixture.file()),
        let values = try? PropertyListCoding.decode(bytes).dictionaryValue, values["z"] != nil,
        values["before"] == "kept"
      else {
        Issue.record("the file is torn, or a key that is only ever overwritten is absent")
        return
      }
      reads.add(1, ordering: .relaxed)
      usleep(isFull ? 200_000 : 5000)
    } while !isOver.load(ordering: .acquiring)
  }

  /// More observers than the kernel gives inotify instances to one user: those without one look every 50 ms.
  @Test func twoHundredObservers() throws {
    let fixture = Fixture()
    let observers = try (0..<200).map { _ in try Peer.start("observe", fixture, "k") }
    for observer in observers { try #require(observer.line() == "ready") }
    let list = fixture.list()
    var delays: [Double] = []
    for value in 1...3 {
      // Long enough after the last write for the next one not to wait.
      usleep(300_000)
      let start = Int64(WallClock.monotonicSeconds() * 1e9)
      list.set(.integer(PropertyListInteger(value)), forKey: "k")
      for observer in observers {
        delays.append(try Self.delay(observer, value, start))
      }
    }
    for observer in observers { observer.endInput() }
    for observer in observers { #expect(observer.wait() == 0) }
    Self.report("200 observing processes, set to told", delays)
  }

  /// How long after `set` another process that observes is told, and one that only reads sees it.
  @Test func anObserverAndAPlainReaderSeeAnothersSet() throws {
    let fixture = Fixture()
    let list = fixture.list()
    var (observed, read): ([Double], [Double]) = ([], [])
    let observer = try Peer.start("observe", fixture, "k")
    try #require(observer.line() == "ready")
    for value in 1...8 {
      let reader = try Peer.start("read", fixture, "k", "\(value)")
      try #require(reader.line() == "ready")
      usleep(300_000)
      let start = Int64(WallClock.monotonicSeconds() * 1e9)
      list.set(.integer(PropertyListInteger(value)), forKey: "k")
      observed.append(try Self.delay(observer, value, start))
      read.append(try Self.delay(reader, value, start))
      #expect(reader.wait() == 0)
    }
    Self.report("one observing process, set to told", observed)
    Self.report("one reading process, set to read", read)
  }

  /// Milliseconds from `start` until a peer saw a value.
  private static func delay(_ peer: StartedProgram, _ value: Int, _ start: Int64) throws -> Double {
    let words = try #require(peer.line()).split(separator: " ")
    #expect(Int(words[0]) == value)
    return Double(try #require(Int64(words[1])) - start) / 1e6
  }

  /// For people; loaded machines make any bound a lottery.
  private static func report(_ what: String, _ delays: [Double]) {
    let sorted = delays.sorted().map { ($0 * 10).rounded() / 10 }
    print("\(what): median \(sorted[sorted.count / 2]) ms, at most \(sorted.last!) ms")
  }
}
