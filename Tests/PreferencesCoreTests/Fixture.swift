import AuditEvents
import ForcedDomain
import Glibc
import LinuxFiles
public import PropertyList
import Synchronization
import TestPrograms

@testable import PreferencesCore

/// A home, a configuration directory and an installation of their own, removed at the end.
///
/// With `MANAGED_PREFERENCES_TEST_CONTAINED=1` every list is that of a contained application, to which no policy grants
/// anything: what holds of search lists holds there as well. `Scripts/test` runs this suite both ways.
final class Fixture: Sendable {
  static let domain = "org.example.Editor"

  let directory: String
  let sink = RecordingSink()
  let clock = TestClock()
  private let isOwner: Bool

  init() {
    directory = "/tmp/managed-preferences-tests.\(getpid()).\(UInt64.random(in: .min ... .max))"
    isOwner = true
    try! Directory.createAll(userConfiguration, mode: 0o700)
    try! Directory.createAll(installation.stateDirectory, mode: 0o755)
    if let containment = Self.containment { try! ContainerPreparation.prepare(containment, in: locations) }
  }

  /// In a child process: the parent's fixture, left there at the end.
  init(in directory: String) {
    self.directory = directory
    isOwner = false
  }

  deinit { if isOwner { TestFolders.remove(directory) } }

  var home: String { directory + "/home" }
  /// Where the domains are.
  var configuration: String {
    guard let containment = Self.containment else { return userConfiguration }
    return ContainerDirectories(dataDirectory: home + "/.local/share").home(ofContainer: containment.identifier)
      + "/.config"
  }
  var userConfiguration: String { home + "/.config" }
  var installation: Installation { Installation(root: directory + "/root") }
  /// What stands for the host in the names of per-host files.
  static let host = "0123456789abcdef0123456789abcdef"

  static let containment: Containment? =
    EnvironmentVariables.nonEmpty("MANAGED_PREFERENCES_TEST_CONTAINED") == "1" ? Containment(identifier: domain) : nil
  static let isContained = containment != nil

  var locations: PreferenceLocations {
    PreferenceLocations(
      homeDirectory: home, configurationDirectory: userConfiguration, installation: installation,
      hostIdentifier: Self.host, containment: Self.containment)
  }

  /// Makes the home, and all that is in it, another user's.
  func give(to user: UInt32) {
    func give(_ path: String) {
      lchown(path, user, user)
      for name in (try? Directory.names(in: path)) ?? [] { give(path + "/" + name) }
    }
    chown(directory, user, user)
    give(home)
  }

  /// The path of a domain's file.
  func file(
    _ domain: String = Fixture.domain, user: PersistentDomain.User = .current, host: PersistentDomain.Host = .any
  ) -> String {
    try! PersistentDomain(domain, user: user, host: host, in: locations).path
  }

  func list(
    _ domain: String = Fixture.domain, application: String? = nil, arguments: [String] = [], observes: Bool = false,
    languages: [String] = [], user: UserFacts = UserFacts(userID: 1000, groupIDs: [1000]),
    roaming: RoamingLayers.Opener? = nil
  ) -> SearchList {
    let clock = clock
    var configuration = SearchList.Configuration(
      domain: domain, applicationDomain: application, homeDirectory: home, configurationDirectory: userConfiguration,
      containment: Self.containment, hostIdentifier: Self.host, arguments: arguments, languages: languages,
      installation: installation, sink: sink,
      observes: observes,
      clock: { clock.now },
      userFacts: user)
    configuration.openRoamingLayer = roaming
    return try! SearchList(configuration: configuration)
  }

  /// The lock of a domain's writers, as another process would hold it: until it goes, nothing reaches the disk.
  func lock(_ domain: String = Fixture.domain) throws -> FileLock {
    let locks = configuration + "/managed-preferences/locks"
    try Directory.createAll(locks, mode: 0o700)
    return try FileLock.exclusive("\(locks)/\(domain).lock")
  }

  func store(
    _ values: [String: PropertyListValue], _ domain: String = Fixture.domain, user: PersistentDomain.User = .current,
    host: PersistentDomain.Host = .any
  ) {
    let path = file(domain, user: user, host: host)
    try! Directory.createAll(FilePath.parent(of: path), mode: user == .any ? 0o755 : 0o700)
    let bytes = try! PropertyListCoding.encode(.dictionary(values), as: .xml)
    try! AtomicReplacement.write(bytes, to: path, mode: user == .any ? 0o644 : 0o600, durable: false)
  }

  /// What the file on the disk holds, nil where there is none.
  func stored(_ domain: String = Fixture.domain) -> [String: PropertyListValue]? {
    guard let (bytes, _) = try? WholeFile.read(file(domain)) else { return nil }
    return try? PropertyListCoding.decode(bytes).dictionaryValue
  }

  /// One line of policy.
  struct Line {
    var domain = Fixture.domain
    var key: String
    var value: PropertyListValue?
    var section = PolicySection.forced
    var action = EntryAction.replace
    var priority: Int64 = 0
    var condition = Condition.always
    var intervals: [[Range<Int64>]] = []
    var profile = "org.example.base"
  }

  static let horizon: Range<Int64> = 0..<4_000_000_000

  /// Installs a generation as the installer does: the forced file, then the marker.
  /// - Parameters:
  ///   - grants: the applications that are contained under `condition`, and what is shared with each.
  ///   - roaming: the keys of applications that roam under `condition`.
  func install(
    _ lines: [Line], containing grants: [String: (groups: [String], read: [String])] = [:],
    roaming: [String: [String]] = [:], under condition: Condition = .always, intervals: [[Range<Int64>]] = [],
    generation: UInt64 = 1
  ) {
    let bytes = Self.forcedFile(
      lines, containing: grants, roaming: roaming, under: condition, intervals: intervals, generation: generation)
    try! AtomicReplacement.write(bytes, to: installation.forcedFile, mode: 0o644, durable: false)
    let checksum = try! ForcedDomain(bytes: bytes, expecting: [.forced]).checksum
    mark(generation, checksum: checksum)
  }

  func mark(_ generation: UInt64, checksum: UInt64) {
    let marker = GenerationMarker(
      generation: generation, serial: generation, sourceDigest: [], hostName: "lab-a-03", installedAt: 0,
      forcedChecksum: checksum)
    try! AtomicReplacement.write(marker.bytes, to: installation.generationMarker, mode: 0o644, durable: false)
  }

  static func forcedFile(
    _ lines: [Line], containing grants: [String: (groups: [String], read: [String])] = [:],
    roaming: [String: [String]] = [:], under condition: Condition = .always, intervals: [[Range<Int64>]] = [],
    generation: UInt64
  ) -> [UInt8] {
    var writer = ForcedDomainWriter(kind: .forced)
    if !grants.isEmpty || !roaming.isEmpty {
      let number = condition == .always ? 0 : writer.addCondition(condition, intervals: intervals)
      func strings(_ list: [String]) -> PropertyListValue { .array(list.map { .string($0) }) }
      writer.setAnnex([
        "containers": .array(
          grants.map { domain, grant in
            [
              "domain": .string(domain), "groups": strings(grant.groups), "read": strings(grant.read),
              "files": .array([]), "profile": "org.example.base",
              "condition": .integer(PropertyListInteger(Int(number))),
            ]
          }),
        "roaming": .array(
          roaming.map { domain, keys in
            [
              "domain": .string(domain), "keys": strings(keys), "profile": "org.example.base",
              "condition": .integer(PropertyListInteger(Int(number))),
            ]
          }),
      ])
    }
    for line in lines {
      let profile = writer.addProfile(ProfileReference(id: line.profile, title: "Title of \(line.profile)"))
      let condition =
        line.condition == .always ? 0 : writer.addCondition(line.condition, intervals: line.intervals)
      let key = writer.addKey(domain: writer.addDomain(line.domain), key: line.key)
      let value = line.value.map { writer.addValue($0) }
      writer.addEntry(
        key: key, section: line.section, action: line.action,
        rank: Rank(priority: line.priority, isOverride: false, hostClass: .none, userClass: .none),
        condition: condition, profile: profile, value: value)
    }
    return try! writer.finish(
      FileStamp(generation: generation, serial: generation, hostName: "lab-a-03", horizon: horizon))
  }
}

final class RecordingSink: AuditEventSink {
  private let events = Mutex<[AuditEvent]>([])
  func send(_ event: AuditEvent) { events.withLock { $0.append(event) } }
  func taken(_ kind: AuditEvent.Kind) -> [[String: PropertyListValue]] {
    events.withLock { $0.filter { $0.kind == kind }.map(\.fields) }
  }
}

final class TestClock: Sendable {
  private let seconds = Atomic<Int64>(1000)
  var now: Int64 {
    get { seconds.load(ordering: .relaxed) }
    set { seconds.store(newValue, ordering: .relaxed) }
  }
}

/// The changes that an observer was told.
final class Heard: Sendable {
  private let changes = Mutex<[SearchListChange]>([])
  func note(_ change: SearchListChange) { changes.withLock { $0.append(change) } }
  var all: [SearchListChange] { changes.withLock { $0 } }

  /// Waits until something was heard that fits; false after a minute.
  func wait(_ fits: (SearchListChange) -> Bool) -> Bool {
    for _ in 0..<12_000 {
      if all.contains(where: fits) { return true }
      usleep(5000)
    }
    return false
  }
}

/// Waits for what another thread or process brings about; false after a minute.
func eventually(_ condition: () -> Bool) -> Bool {
  for _ in 0..<12_000 {
    if condition() { return true }
    usleep(5000)
  }
  return false
}

extension PropertyListValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral, ExpressibleByDictionaryLiteral
{
  public init(dictionaryLiteral members: (String, PropertyListValue)...) {
    self = .dictionary(Dictionary(uniqueKeysWithValues: members))
  }

  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .integer(PropertyListInteger(value)) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
}
