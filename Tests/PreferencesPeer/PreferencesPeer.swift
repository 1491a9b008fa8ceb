import AuditEvents
import ForcedDomain
import Glibc
import LinuxFiles
import PreferencesCore
import PropertyList

/// A test's events are not this machine's.
private struct NoEvents: AuditEventSink {
  func send(_ event: AuditEvent) {}
}

/// Another process, for tests that need one or two hundred: `PreferencesPeer VERB DIRECTORY ARGUMENT…`, where the directory
/// is a test's, with a home and an installation.
@main
enum PreferencesPeer {
  static let domain = "org.example.Editor"

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 2 else { exit(64) }
    let rest = Array(arguments.dropFirst(2))
    switch (arguments[0], rest.count) {
    case ("end", 1): end(list(arguments[1], observes: false), arguments[1], rest[0])
    case ("write", 3): write(list(arguments[1], observes: false), rest[0], count: Int(rest[1])!, batch: Int(rest[2])!)
    case ("observe", 1): observe(list(arguments[1], observes: true), rest[0])
    case ("read", 2): read(list(arguments[1], observes: true), rest[0], until: Int(rest[1])!)
    case ("hold", 0): hold(arguments[1])
    case ("fill", 0): fill(list(arguments[1], observes: false), arguments[1])
    default: exit(64)
    }
  }

  /// As the suite that started this one: see its `Fixture`.
  static let containment: Containment? =
    EnvironmentVariables.nonEmpty("MANAGED_PREFERENCES_TEST_CONTAINED") == "1" ? Containment(identifier: domain) : nil

  /// Where the domain is.
  static func configuration(_ directory: String) -> String {
    let home = directory + "/home"
    if containment == nil { return home + "/.config" }
    return ContainerDirectories(dataDirectory: home + "/.local/share").home(ofContainer: domain) + "/.config"
  }

  static func list(_ directory: String, observes: Bool) -> SearchList {
    try! SearchList(
      configuration: SearchList.Configuration(
        domain: domain, homeDirectory: directory + "/home", configurationDirectory: directory + "/home/.config",
        containment: containment,
        installation: Installation(root: directory + "/root"), sink: NoEvents(), observes: observes,
        userFacts: UserFacts(userID: 1000, groupIDs: [1000])))
  }

  /// Nanoseconds of the monotonic clock, which all processes share.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Past the buffer of `print`, which a kill would lose.
  static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = Glibc.write(1, bytes, bytes.count)
  }

  static func waitForEndOfInput() {
    var byte: UInt8 = 0
    while Glibc.read(0, &byte, 1) > 0 {}
  }

  /// The domain's file, as it is now.
  static func stored(_ directory: String) -> [String: PropertyListValue] {
    (try? PersistentDomain(path: "\(configuration(directory))/\(domain).plist").read()) ?? [:]
  }

  /// Sets three values and ends in the given way.
  static func end(_ list: SearchList, _ directory: String, _ way: String) {
    list.set(.string("x"), forKey: "a")
    list.set(.boolean(true), forKey: "b")
    list.set(.date(PropertyListDate(secondsSinceReferenceDate: 700_000_000.123456)), forKey: "c")
    if way == "two" {
      usleep(1000)
      list.set(.boolean(false), forKey: "b")
    }
    switch way {
    case "return", "two": return
    case "exit": exit(0)
    case "fatal": fatalError("on purpose")
    case "terminate": raise(SIGTERM)
    case "kill": raise(SIGKILL)
    case "_exit": _exit(0)
    case "later":
      // Its thread writes by itself; a minute without that is a failure.
      for _ in 0..<60_000 where stored(directory)["c"] == nil { usleep(1000) }
      _exit(0)
    default: exit(64)
    }
  }

  /// Sets `count` keys `NAME.0` …, and one that all writers overwrite; says after each batch how many are on the disk.
  static func write(_ list: SearchList, _ name: String, count: Int, batch: Int) {
    for number in 0..<count {
      list.set(.integer(PropertyListInteger(number)), forKey: "\(name).\(number)")
      list.set(.integer(PropertyListInteger(number)), forKey: "z")
      if number % batch == batch - 1 {
        // Others may keep the lock for longer than a call waits.
        var attempts = 1
        while !list.synchronize() {
          attempts += 1
          if attempts > 20 { exit(74) }
        }
        say("\(number + 1)")
      }
    }
  }

  /// Says each value of a key that it is told, and when.
  static func observe(_ list: SearchList, _ key: String) {
    let subscription = list.observe(key) { change in say("\(change.new?.integerValue ?? 0) \(now())") }
    say("ready")
    waitForEndOfInput()
    subscription.cancel()
    _exit(0)
  }

  /// Reads a key, without observing it, until it has a value.
  static func read(_ list: SearchList, _ key: String, until value: Int) {
    say("ready")
    while list.integer(key) != value { usleep(1000) }
    say("\(value) \(now())")
    _exit(0)
  }

  /// Holds the domain's lock until the end of input.
  static func hold(_ directory: String) {
    let locks = configuration(directory) + "/managed-preferences/locks"
    guard (try? Directory.createAll(locks, mode: 0o700)) != nil,
      let lock = try? FileLock.exclusive("\(locks)/\(domain).lock")
    else { exit(73) }
    say("ready")
    waitForEndOfInput()
    _ = consume lock
  }

  /// Sets what a file system of 64 KB holds, and what it does not.
  static func fill(_ list: SearchList, _ directory: String) {
    func report(_ step: String) {
      let isWritten = list.synchronize()
      say("\(step): \(isWritten), \(stored(directory).keys.sorted())")
    }
    list.set(.integer(1), forKey: "k")
    list.set(.integer(1), forKey: "z")
    report("small")
    list.set(.data([UInt8](repeating: 7, count: 200_000)), forKey: "large")
    list.set(.integer(1), forKey: "later")
    report("large")
    if let fault = list.faults.first { say("cannot write: \(fault.errno?.description ?? "")") }
    list.removeValue(forKey: "large")
    report("without the large one")
    say("files: \((try? Directory.names(in: configuration(directory))) ?? [])")
  }
}
