import Glibc
import LinuxFiles
import PropertyList
import Synchronization
import UbiquitousStore

/// A process that uses a store's file, for tests across processes, users and kills.
///
///     StorePeer push PATH NAME COUNT    pushes COUNT times the keys "NAME" and "common", and prints each acknowledged number
///     StorePeer set PATH KEY TEXT       sets a text, and ends normally: the store saves by itself
///     StorePeer follow PATH KEY         prints the texts of a key as they change, until its input ends
///     StorePeer read PATH KEY           prints a text, or what is wrong
@main struct StorePeer {
  static let application = "com.example.Peer"

  /// One line, at once.
  private static func print(_ text: String) { try? StandardStreams.writeOutput(text + "\n") }

  static func main() throws {
    let arguments = CommandLine.arguments
    let path = arguments[2]
    switch arguments[1] {
    case "push": try push(path, arguments[3], Int(arguments[4])!)
    case "set":
      // `main` returns, and the exit saves; the store must live until then.
      kept = SyncedStore(application: application, backEnd: SQLiteBackEnd(path: path))
      try kept!.set(arguments[3], to: .string(arguments[4]))
    case "follow": follow(path, StoreKey(arguments[3]))
    default: read(path, StoreKey(arguments[3]))
    }
  }

  private static func push(_ path: String, _ name: String, _ count: Int) throws {
    var options = SQLiteBackEnd.Options()
    options.busySeconds = 60
    options.isDurable = false
    let backEnd = SQLiteBackEnd(path: path, options: options)
    let store = StoreID(account: "", application: application)
    var clock = HybridLogicalClock(device: .random())
    for number in 0..<count {
      let value = try PropertyListCoding.encode(.string("\(name) \(number)"), as: .binary)
      let records = ["common", StoreKey(name)].map { key in
        StoreRecord(key: key, value: value, stamp: clock.stamp(now: WallClock.unixMilliseconds(), replacing: nil))
      }
      let outcomes = try backEnd.push(records, to: store)
      guard outcomes[1] == .taken else { fatalError("\(outcomes)") }
      print("\(number)")
    }
  }

  nonisolated(unsafe) private static var kept: SyncedStore?

  private static func follow(_ path: String, _ key: StoreKey) {
    let store = SyncedStore(application: application, backEnd: SQLiteBackEnd(path: path))
    kept = store
    // On two threads: each text once, and in order.
    let shown = Mutex<String?>(nil)
    let show: @Sendable () -> Void = {
      shown.withLock { shown in
        guard case .string(let text) = store.value(key.text), text != shown else { return }
        shown = text
        print(text)
      }
    }
    _ = store.observe { _ in show() }
    print("ready")
    show()
    _ = try? StandardStreams.readInput(limit: 1)
  }

  private static func read(_ path: String, _ key: StoreKey) {
    do throws(BackEndError) {
      let store = StoreID(account: "", application: application)
      let records = try SQLiteBackEnd(path: path).changes(in: store, after: nil).records
      let value = records.first { $0.key == key }?.value
      print(value.flatMap { try? PropertyListCoding.decode($0, as: .binary) }.map { "\($0)" } ?? "nothing")
    } catch {
      print("\(error)")
    }
  }
}
