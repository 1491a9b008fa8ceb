import Dispatch
import Foundation
import Synchronization
import UbiquitousStore

/// One promise of `StoreBackEnd`, checked. A test runs `all` over a place, each of them once.
public struct BackEndCheck: Sendable, CustomStringConvertible {
  public let name: String
  private let body: @Sendable (BackEndPlace, inout Findings) throws -> Void

  public var description: String { name }

  /// - Returns: what is wrong; empty for nothing.
  public func run(_ place: BackEndPlace) throws -> [String] {
    var findings = Findings()
    try body(place, &findings)
    return findings.texts
  }

  public static let all: [BackEndCheck] = [
    BackEndCheck(name: "the account is the connection's", body: accountIsTheConnections),
    BackEndCheck(name: "a store that nobody wrote is empty", body: emptyStore),
    BackEndCheck(name: "the greater stamp wins in every order", body: greaterStampWins),
    BackEndCheck(name: "stamps order by time, counter, device", body: stampOrder),
    BackEndCheck(name: "the same edit again changes nothing", body: sameEditAgain),
    BackEndCheck(name: "changes are everything after the cursor", body: changesAfterCursor),
    BackEndCheck(name: "an unknown cursor gets whole contents", body: unknownCursor),
    BackEndCheck(name: "applications and accounts are apart", body: storesAreApart),
    BackEndCheck(name: "keys and values come back byte for byte", body: bytesComeBack),
    BackEndCheck(name: "what breaks a limit is refused whole", body: refusedWhole),
    BackEndCheck(name: "clocks ahead are refused one by one, or not at all", body: clocksAhead),
    BackEndCheck(name: "8,192 rows are taken", body: manyRows),
    BackEndCheck(name: "writers at once lose nothing and readers miss nothing", body: writersAtOnce),
    BackEndCheck(name: "who watches is hinted", body: watchersAreHinted),
    BackEndCheck(name: "tombstones are collected, and readers below the floor told", body: tombstonesAreCollected),
  ]

  static func accountIsTheConnections(_ place: BackEndPlace, _ findings: inout Findings) throws {
    findings.expect(try place.connect(place.accounts.0).account(), is: place.accounts.0)
    findings.expect(try place.connect(place.accounts.1).account(), is: place.accounts.1)
  }

  static func emptyStore(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let whole = try backEnd.changes(in: place.store(), after: nil)
    findings.expect(whole.records, is: [])
    findings.expect(whole.isWhole, is: true)
    findings.expect(whole.floor, is: nil)
    let next = try backEnd.changes(in: place.store(), after: whole.cursor)
    findings.expect(next, is: StoreChanges(records: [], cursor: whole.cursor, isWhole: false))
    findings.expect(try backEnd.push([], to: place.store()), is: [])
  }

  static func greaterStampWins(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let now = place.now()
    let old = StoreRecord(key: "a", value: [1], stamp: stamp(now - 10))
    let new = StoreRecord(key: "a", value: nil, stamp: stamp(now - 5))
    let newest = StoreRecord(key: "a", value: [3], stamp: stamp(now))
    findings.expect(try backEnd.push([new], to: place.store()), is: [.taken])
    findings.expect(try backEnd.push([old], to: place.store()), is: [.superseded(by: new)])
    findings.expect(try backEnd.changes(in: place.store(), after: nil).records, is: [new])
    let other = StoreRecord(key: "b", value: [2], stamp: stamp(now - 7))
    findings.expect(try backEnd.push([newest, other], to: place.store()), is: [.taken, .taken])
    findings.expect(
      try backEnd.push([new, other], to: place.store()), is: [.superseded(by: newest), .taken])
    let records = try backEnd.changes(in: place.store(), after: nil).records
    findings.expect(Set(records), is: [newest, other])
    let ancient = StoreRecord(key: "c", value: [4], stamp: stamp(0))
    findings.expect(try backEnd.push([ancient], to: place.store()), is: [.taken], "none is refused for being old")
  }

  static func stampOrder(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let now = place.now()
    let devices = [
      DeviceID(high: 0, low: 1), DeviceID(high: 0, low: .max), DeviceID(high: 1, low: 0),
      DeviceID(high: 0x7FFF_FFFF_FFFF_FFFF, low: 0), DeviceID(high: 0x8000_0000_0000_0000, low: 0),
      DeviceID(high: .max, low: .max),
    ]
    var stamps = devices.map { Stamp(time: now - 2, counter: 7, device: $0) }
    stamps.append(Stamp(time: now - 2, counter: 8, device: devices[0]))
    stamps.append(Stamp(time: now - 2, counter: .max, device: devices[0]))
    stamps.append(Stamp(time: now - 1, counter: 0, device: devices[0]))
    for (index, stamp) in stamps.enumerated() {
      let record = StoreRecord(key: "k", value: [UInt8(index)], stamp: stamp)
      findings.expect(try backEnd.push([record], to: place.store()), is: [.taken], "rising, \(index):")
      guard index > 0 else { continue }
      let before = StoreRecord(key: "k", value: [UInt8(index - 1)], stamp: stamps[index - 1])
      findings.expect(
        try backEnd.push([before], to: place.store()), is: [.superseded(by: record)], "falling, \(index):")
    }
  }

  static func sameEditAgain(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let records = (0..<3).map { StoreRecord(key: StoreKey("k\($0)"), value: [1], stamp: stamp(place.now())) }
    _ = try backEnd.push(records, to: place.store())
    let cursor = try backEnd.changes(in: place.store(), after: nil).cursor
    findings.expect(try backEnd.push(records, to: place.store()), is: [.taken, .taken, .taken])
    let old = StoreRecord(key: "k0", value: [0], stamp: stamp(1))
    findings.expect(try backEnd.push([old], to: place.store()), is: [.superseded(by: records[0])])
    findings.expect(
      try backEnd.changes(in: place.store(), after: cursor),
      is: StoreChanges(records: [], cursor: cursor, isWhole: false), "no number was given")
  }

  static func changesAfterCursor(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let writer = try place.connect(place.accounts.0)
    let reader = try place.connect(place.accounts.0)
    var cursor = try reader.changes(in: place.store(), after: nil).cursor
    let now = place.now() - 100
    var standing: [StoreKey: StoreRecord] = [:]
    for round in 0..<5 {
      var pushed: Set<StoreRecord> = []
      for index in 0...round {
        let record = StoreRecord(
          key: StoreKey("k\(index)"), value: index == 2 ? nil : [UInt8(round)], stamp: stamp(now + Int64(round)))
        standing[record.key] = record
        pushed.insert(record)
      }
      _ = try writer.push(Array(pushed), to: place.store())
      let changes = try reader.changes(in: place.store(), after: cursor)
      findings.expect(changes.isWhole, is: false)
      findings.expect(Set(changes.records), is: pushed)
      findings.expect(changes.records.count, is: pushed.count, "each key once:")
      findings.expect(changes.cursor != cursor, "the cursor moves")
      cursor = changes.cursor
    }
    let whole = try reader.changes(in: place.store(), after: nil)
    findings.expect(Set(whole.records), is: Set(standing.values))
    findings.expect(whole.cursor, is: cursor)
  }

  static func unknownCursor(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let record = StoreRecord(key: "k", value: [1], stamp: stamp(place.now()))
    _ = try backEnd.push([record], to: place.store())
    let cursor = try backEnd.changes(in: place.store(), after: nil).cursor
    for unknown in [
      StoreCursor(incarnation: .random(), sequence: cursor.sequence),
      StoreCursor(incarnation: cursor.incarnation, sequence: cursor.sequence + 1_000_000),
    ] {
      let changes = try backEnd.changes(in: place.store(), after: unknown)
      findings.expect(changes, is: StoreChanges(records: [record], cursor: cursor, isWhole: true))
    }
  }

  static func storesAreApart(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let (ada, bob) = (try place.connect(place.accounts.0), try place.connect(place.accounts.1))
    let mine = place.store()
    let otherApplication = StoreID(account: mine.account, application: mine.application + "2")
    let otherAccount = StoreID(account: place.accounts.1, application: mine.application)
    let now = place.now()
    let record = { StoreRecord(key: "k", value: [$0], stamp: stamp(now - Int64($0))) }
    findings.expect(try ada.push([record(1)], to: mine), is: [.taken])
    let cursor = try ada.changes(in: mine, after: nil).cursor
    findings.expect(try ada.push([record(2)], to: otherApplication), is: [.taken])
    findings.expect(try bob.push([record(3)], to: otherAccount), is: [.taken])
    findings.expect(try ada.changes(in: mine, after: nil).records, is: [record(1)])
    findings.expect(try ada.changes(in: otherApplication, after: nil).records, is: [record(2)])
    findings.expect(try bob.changes(in: otherAccount, after: nil).records, is: [record(3)])
    findings.expect(try ada.changes(in: mine, after: cursor).records, is: [])
  }

  static func bytesComeBack(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let now = place.now()
    let records = [
      StoreRecord(key: "empty value", value: [], stamp: stamp(now)),
      StoreRecord(key: "all bytes", value: Array(0...255), stamp: stamp(now)),
      StoreRecord(key: "the largest", value: [UInt8](repeating: 7, count: 1_048_576), stamp: stamp(now)),
      StoreRecord(key: StoreKey(String(repeating: "ä", count: 32)), value: [1], stamp: stamp(now)),
      StoreRecord(key: "caf\u{E9}", value: [2], stamp: stamp(now)),
      StoreRecord(key: "cafe\u{301}", value: [3], stamp: stamp(now)),
      StoreRecord(key: "'; DROP TABLE records; --", value: [4], stamp: stamp(now)),
      StoreRecord(key: "\\x41\t\n\u{1F600}", value: [5], stamp: stamp(now)),
      StoreRecord(key: "K", value: [6], stamp: stamp(now)), StoreRecord(key: "k", value: [7], stamp: stamp(now)),
      StoreRecord(
        key: "greatest stamp", value: [8], stamp: Stamp(time: now, counter: .max, device: DeviceID(high: .max, low: 0))),
    ]
    findings.expect(
      try backEnd.push(records, to: place.store()), is: Array(repeating: .taken, count: records.count))
    let found = try place.connect(place.accounts.0).changes(in: place.store(), after: nil).records
    findings.expect(found.count, is: records.count)
    findings.expect(Set(found) == Set(records), "the records differ: \(Set(records).subtracting(found).map(\.key))")
  }

  static func refusedWhole(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let now = place.now()
    let good = StoreRecord(key: "good", value: [1], stamp: stamp(now))
    let wrong: [(String, [StoreRecord])] = [
      (
        "a key of 65 bytes",
        [StoreRecord(key: StoreKey(String(repeating: "x", count: 65)), value: [], stamp: stamp(now))]
      ),
      (
        "a key of 65 bytes and fewer characters",
        [StoreRecord(key: StoreKey("x" + String(repeating: "ä", count: 32)), value: [], stamp: stamp(now))]
      ),
      ("no key", [StoreRecord(key: "", value: [], stamp: stamp(now))]),
      ("a zero byte", [StoreRecord(key: "a\0b", value: [], stamp: stamp(now))]),
      (
        "one byte too many",
        [StoreRecord(key: "k", value: [UInt8](repeating: 0, count: 1_048_577), stamp: stamp(now))]
      ),
      ("a negative time", [StoreRecord(key: "k", value: [], stamp: stamp(-1))]),
      ("a time beyond all clocks", [StoreRecord(key: "k", value: [], stamp: stamp(Stamp.greatestTime + 1))]),
      (
        "a negative counter",
        [StoreRecord(key: "k", value: [], stamp: Stamp(time: now, counter: -1, device: .random()))]
      ),
      (
        "a key twice",
        [StoreRecord(key: "k", value: [], stamp: stamp(now)), StoreRecord(key: "k", value: nil, stamp: stamp(now))]
      ),
    ]
    for (what, records) in wrong {
      do throws(BackEndError) {
        _ = try backEnd.push([good] + records, to: place.store())
        findings.expect(false, "\(what) was taken")
      } catch {
        if case .refused = error {} else { findings.expect(false, "\(what): \(error)") }
      }
    }
    findings.expect(try backEnd.changes(in: place.store(), after: nil).records, is: [])
  }

  static func clocksAhead(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let now = place.now()
    let minute: Int64 = 60_000
    let ahead = StoreRecord(key: "ahead", value: [1], stamp: stamp(now + 6 * minute))
    let within = StoreRecord(key: "within", value: [1], stamp: stamp(now + 4 * minute))
    let outcomes = try backEnd.push([ahead, within], to: place.store())
    guard place.refusesClocks else {
      findings.expect(outcomes, is: [.taken, .taken])
      return
    }
    findings.expect(outcomes[1], is: .taken)
    if case .clockAhead(let time, let standing) = outcomes[0] {
      findings.expect(abs(time - now) < minute, "the back end says \(time), and it is \(now)")
      findings.expect(standing, is: nil)
    } else {
      findings.expect(false, "six minutes ahead was \(outcomes[0])")
    }
    findings.expect(try backEnd.changes(in: place.store(), after: nil).records, is: [within])
    let further = StoreRecord(key: "within", value: [2], stamp: stamp(now + 10 * minute))
    let refused = try backEnd.push([further], to: place.store())
    if case .clockAhead(_, let standing) = refused[0] {
      findings.expect(standing, is: within.stamp)
    } else {
      findings.expect(false, "ten minutes ahead was \(refused[0])")
    }
    let next = StoreRecord(
      key: "within", value: nil,
      stamp: Stamp(time: within.stamp.time, counter: within.stamp.counter + 1, device: .random()))
    findings.expect(try backEnd.push([next], to: place.store()), is: [.taken])
  }

  static func manyRows(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let backEnd = try place.connect(place.accounts.0)
    let now = place.now()
    let records = (0..<8192).map { StoreRecord(key: StoreKey("key \($0)"), value: [1, 2, 3], stamp: stamp(now)) }
    for part in 0..<8 {
      let outcomes = try backEnd.push(Array(records[part * 1024..<(part + 1) * 1024]), to: place.store())
      findings.expect(outcomes.allSatisfy { $0 == .taken }, "part \(part)")
    }
    let found = try backEnd.changes(in: place.store(), after: nil).records
    findings.expect(Set(found) == Set(records), "\(found.count) of 8192 are there")
  }

  /// Eight connections push to common keys while a reader follows by its cursor.
  static func writersAtOnce(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let store = place.store()
    let (writers, rounds) = (8, 40)
    let now = place.now() - 1000
    let failures = Mutex<[String]>([])
    let left = Mutex(writers)
    let acknowledged = Mutex<[StoreKey: StoreRecord]>([:])
    let connections = try (0..<writers).map { _ in try place.connect(place.accounts.0) }
    DispatchQueue.global().async {
      DispatchQueue.concurrentPerform(iterations: writers) { writer in
        defer { left.withLock { $0 -= 1 } }
        for round in 0..<rounds {
          let time = now + Int64.random(in: 0..<1000)
          let records = Set((0..<3).map { _ in Int.random(in: 0..<20) }).map {
            StoreRecord(
              key: StoreKey("k\($0)"), value: [UInt8(writer), UInt8(round)],
              stamp: Stamp(time: time, counter: Int32(writer * 1000 + round), device: .random()))
          }
          do {
            var outcomes: [PushOutcome]?
            while outcomes == nil {
              do throws(BackEndError) { outcomes = try connections[writer].push(records, to: store) } catch {
                guard error.isTransient else { throw error }
              }
            }
            acknowledged.withLock { standing in
              for (record, outcome) in zip(records, outcomes!) where outcome == .taken {
                if standing[record.key].map({ $0.stamp < record.stamp }) ?? true { standing[record.key] = record }
              }
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
    }
    let reader = try place.connect(place.accounts.0)
    var cursor: StoreCursor?
    var seen: [StoreKey: StoreRecord] = [:]
    func follow() throws {
      let changes = try reader.changes(in: store, after: cursor)
      for record in changes.records {
        findings.expect(
          seen[record.key].map { $0.stamp <= record.stamp } ?? true, "\(record.key) went back to an older record")
        seen[record.key] = record
      }
      cursor = changes.cursor
    }
    while left.withLock({ $0 }) > 0 { try follow() }
    try follow()
    findings.expect(failures.withLock { $0 }, is: [])
    findings.expect(seen == acknowledged.withLock { $0 }, "what was acknowledged and what was seen differ")
    let whole = try reader.changes(in: store, after: nil).records
    findings.expect(Set(whole) == Set(seen.values), "a reader by cursor and one of everything differ")
  }

  static func watchersAreHinted(_ place: BackEndPlace, _ findings: inout Findings) throws {
    let store = place.store()
    let (watching, writing) = (try place.connect(place.accounts.0), try place.connect(place.accounts.0))
    _ = try watching.changes(in: store, after: nil)
    let hints = Mutex(0)
    let watch = watching.watch(store) { hints.withLock { $0 += 1 } }
    // The watch may begin with a hint, and only then be there.
    for round in 0..<3 {
      let before = hints.withLock { $0 }
      var count: Int64 = 0
      let deadline = Date(timeIntervalSinceNow: 60)
      while hints.withLock({ $0 }) == before && Date() < deadline {
        if count % 100 == 0 {
          let record = StoreRecord(
            key: "k", value: [UInt8(round)],
            stamp: Stamp(time: place.now(), counter: Int32(round), device: .random()))
          _ = try writing.push([record], to: store)
        }
        count += 1
        Thread.sleep(forTimeInterval: 0.01)
      }
      findings.expect(hints.withLock { $0 } > before, "no hint in round \(round)")
    }
    _ = consume watch
  }

  static func tombstonesAreCollected(_ place: BackEndPlace, _ findings: inout Findings) throws {
    guard let advance = place.advance else { return }
    let backEnd = try place.connect(place.accounts.0)
    let store = place.store()
    let value = StoreRecord(key: "kept", value: [1], stamp: stamp(place.now()))
    let removed = StoreRecord(key: "removed", value: nil, stamp: stamp(place.now()))
    _ = try backEnd.push([value], to: store)
    let below = try backEnd.changes(in: store, after: nil).cursor
    _ = try backEnd.push([removed], to: store)
    let above = try backEnd.changes(in: store, after: nil).cursor
    try advance(TombstoneRetention.milliseconds - 60_000)
    _ = try backEnd.push([StoreRecord(key: "late", value: [1], stamp: stamp(place.now()))], to: store)
    findings.expect(try backEnd.changes(in: store, after: below).isWhole, is: false, "too early:")
    try advance(120_000)
    _ = try backEnd.push([StoreRecord(key: "later", value: [1], stamp: stamp(place.now()))], to: store)
    let whole = try backEnd.changes(in: store, after: below)
    findings.expect(whole.isWhole, is: true)
    findings.expect(whole.floor, is: removed.stamp)
    findings.expect(Set(whole.records.map(\.key)), is: ["kept", "late", "later"])
    let difference = try backEnd.changes(in: store, after: above)
    findings.expect(difference.isWhole, is: false)
    findings.expect(Set(difference.records.map(\.key)), is: ["late", "later"])
  }

  private static func stamp(_ time: Int64) -> Stamp { Stamp(time: time, counter: 0, device: DeviceID(high: 1, low: 2)) }
}
