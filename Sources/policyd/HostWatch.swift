import AuditEvents
import Digests
import ForcedDomain
import Glibc
import LinuxFiles
import PolicyCompiler
import PolicyLanguage
import PreferencesCore
import PropertyList
import Synchronization

/// Follows what changes on this host, on a thread of its own: it may wait for the name service or for homes in the network,
/// and no program that sends an event waits with it.
///
/// What it notices becomes records in the agent's mailbox. It writes nothing itself but what users' spools held, and the
/// new generation where names stand for others than before.
final class HostWatch: @unchecked Sendable {
  struct Intervals {
    /// Seconds between heartbeats.
    var heartbeat: Int64 = 300
    /// Seconds between looks at names, sources and spools, where nothing tells of a change.
    var look: Int64 = 300
    /// Seconds after which the clock is looked at in any case: it may have been set.
    var clock: Int64 = 30
  }

  let installation: Installation
  let mailbox: Mailbox
  let intervals: Intervals
  private let intake: SpoolIntake
  private let refresh: IdentityRefresh
  private let clock: @Sendable () -> Int64
  private let report: @Sendable (String) -> Void
  private let wakeup: Wakeup
  private let isAsked = Atomic<Bool>(false)

  // Of the thread alone.
  private var file: ForcedDomain?
  private var marker: GenerationMarker?
  private var faults: [DomainFault] = []
  /// What was wrong at the last look, and was not told yet.
  private var suspected: [DomainFault] = []
  private var edges = WindowEdges()
  private var lastEdges: Int64
  private var unknown: [String] = []
  private var staleDigest: [UInt8]?
  /// What was left alone in spools at the last look: names of files by folder.
  private var left: [String: [String]] = [:]

  /// Seconds after which an edge is late: the machine slept, or its clock was set.
  static let lateness: Int64 = 60

  /// - Parameters:
  ///   - start: Unix seconds up to which edges are on record; nil is now.
  ///   - clock: Unix seconds, by which windows open and close.
  init(
    _ installation: Installation, mailbox: Mailbox, store: any EventStore, intervals: Intervals,
    edgesToldThrough start: Int64? = nil,
    clock: @escaping @Sendable () -> Int64 = WallClock.unixSeconds, report: @escaping @Sendable (String) -> Void
  ) throws(Errno) {
    self.installation = installation
    self.mailbox = mailbox
    self.intervals = intervals
    self.clock = clock
    self.report = report
    lastEdges = start ?? clock()
    intake = SpoolIntake(
      origin: SpoolOrigin(host: HostIdentifier.current(), root: installation.root), store: store, report: report)
    refresh = IdentityRefresh(installation, store: store, report: report)
    wakeup = try Wakeup()
  }

  /// - Returns: false where the system has no thread for it.
  func start() -> Bool { BackgroundThread.start { self.run() } }

  /// Has it look at everything now.
  func lookAnew() {
    isAsked.store(true, ordering: .releasing)
    wakeup.raise()
  }

  private func run() {
    let began = WallClock.monotonicSeconds()
    let watches = Watches(installation)
    var nextLook = began
    var nextHeartbeat = began + Double(intervals.heartbeat)
    while true {
      wakeup.clear()
      let touched = watches?.changes() ?? Watches.Changes()
      let isAsked = isAsked.exchange(false, ordering: .acquiring)
      let now = WallClock.monotonicSeconds()
      lookAtGeneration()
      if mailbox.isEnded { return }
      tellEdges()
      let looks = isAsked || now >= nextLook
      if looks || touched.accounts { lookAtNames() }
      if looks || touched.sources { lookAtSources() }
      if looks {
        lookAtSpools()
        nextLook = now + Double(intervals.look)
      }
      beat()
      if isAsked || now >= nextHeartbeat {
        // It says that each edge before it is on record (`LateEdges`).
        let heartbeat = AgentRecord(
          .agentHeartbeat, HostFacts(marker).heartbeat(uptime: Int64(now - began), spoolsLeft: spoolsLeft))
        tellEdges()
        mailbox.put(heartbeat)
        nextHeartbeat = now + Double(intervals.heartbeat)
      }
      Watches.wait(watches, or: wakeup, seconds: pause(until: min(nextLook, nextHeartbeat)))
    }
  }

  /// Seconds until something is due.
  private func pause(until moment: Double) -> Double {
    var seconds = min(moment - WallClock.monotonicSeconds(), Double(intervals.clock))
    if suspected != faults { seconds = min(seconds, 1) }
    if let next = edges.next(after: lastEdges) { seconds = min(seconds, Double(next - clock())) }
    return max(seconds, 0)
  }

  private func beat() {
    mailbox.beat(at: WallClock.unixSeconds(), HostFacts(marker).generation, spoolsLeft: spoolsLeft)
  }

  // MARK: Spools

  private var spoolsLeft: Int { left.values.reduce(0) { $0 + $1.count } }

  /// Takes in what is of this host and installation, and says, once for each state of a folder, what is not.
  private func lookAtSpools() {
    var found: [String: [String]] = [:]
    for spool in installation.root.isEmpty ? SpoolIntake.ofAllUsers() : SpoolIntake.ofThisUser() {
      intake.take(spool)
      let names = intake.left(in: spool)
      if names.isEmpty { continue }
      found[spool.directory] = names
      if names != left[spool.directory] {
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        report(
          "left alone in \(spool.directory), since they are not of this host and installation: "
            + names.prefix(3).joined(separator: ", ") + more)
      }
    }
    left = found
  }

  // MARK: What is in force

  private func lookAtGeneration() {
    marker = ((try? ForcedDomainLoader(installation).marker()) ?? nil) ?? marker
    var found: [DomainFault]
    switch ForcedDomainLoader(installation).load(keeping: file) {
    case .notInstalled:
      // Uninstalled: the log has its last record, and nothing may follow it.
      mailbox.end()
      return
    case .unavailable(let damage): found = damage
    case .loaded(let loaded, let damage):
      found = damage
      if loaded !== file {
        // Of what is replaced, what has passed by now; of what was in force at the start, all since then.
        if file != nil { tellEdges() }
        file = loaded
        edges = WindowEdges(of: loaded)
      }
    }
    // What an installation or an uninstallation leaves for a moment is no damage: a fault counts that is there twice.
    if found != faults, found != suspected {
      suspected = found
      return
    }
    if found != faults, !found.isEmpty {
      mailbox.put(
        AgentRecord(
          .domainDamaged,
          [
            "path": .string(found[0].path), "faults": .array(found.map { .string($0.description) }),
            "inForce": .string(file.map { "generation \($0.generation)" } ?? "nothing readable"),
          ]))
    }
    faults = found
    suspected = found
  }

  private func tellEdges() {
    let now = clock()
    // A clock that went back: its edges come again, and are told again.
    for edge in edges.passed(after: lastEdges, upTo: now) {
      mailbox.put(edge.record(generation: file?.generation ?? 0, isLate: now - edge.instant > Self.lateness))
    }
    lastEdges = now
  }

  // MARK: Names

  private func lookAtNames() {
    guard let current = file, current.generation > 0 else { return }
    let check = IdentityCheck(of: current)
    if check.hasChanged || current.horizonFault(at: WallClock.unixSeconds()) != nil {
      refresh.run()
      lookAtGeneration()
    }
    if check.unknown != unknown, !check.unknown.isEmpty {
      mailbox.put(
        AgentRecord(
          .identityUnknown, ["names": .array(check.unknown.map { .string($0) }), "accepted": .boolean(true)]))
    }
    unknown = check.unknown
  }

  // MARK: Sources

  /// Tells, once for each state of the sources, that they differ from what was installed of them. It does not install
  /// them: that is an administrator's act, who sees what it says.
  private func lookAtSources() {
    guard let marker, marker.generation > 0, case .folder(installation.policiesDirectory)? = marker.source,
      let tree = try? PolicyTreeLoader.load(directory: installation.policiesDirectory), !tree.sources.isEmpty
    else { return }
    let digest = PolicyCompiler.sourceDigest(of: tree)
    if digest != marker.sourceDigest, digest != staleDigest {
      mailbox.put(
        AgentRecord(
          .policyStale,
          [
            "generation": .number(marker.generation), "digest": .string(HexText.encode(marker.sourceDigest)),
            "found": .string(HexText.encode(digest)),
          ]))
    }
    staleDigest = digest == marker.sourceDigest ? nil : digest
  }
}
