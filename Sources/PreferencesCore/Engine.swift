import AuditEvents
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList

/// What all search lists of a process share: files, policies, and the two threads that write and watch.
///
/// One lock guards everything that is not a file's contents on its way; it is held for moments, never while the disk is
/// waited for or an observer called. Order of locks: `PolicySource.disk`, `DomainFile.disk` or `ListState.filling` first,
/// then `lock`.
///
/// A forked child has neither thread. What its parent had not written stays visible to it and is left to the parent; what
/// the child itself sets later is written by a thread of its own.
final class Engine: @unchecked Sendable {
  static let shared = Engine()

  let lock = EngineLock()
  private struct WeakFile { weak var file: DomainFile? }
  private var files: [PreferenceFile: WeakFile] = [:]
  private var policies: [Installation: PolicySource] = [:]
  /// What was decided for the applications that lists were opened for.
  var containments: [ContainedIdentity: Containment?] = [:]
  private(set) var lists: [ObjectIdentifier: ListState] = [:]
  var roamingSources: [RoamingPlace: RoamingSource] = [:]
  let writer = DomainWriter()
  let watcher = Watcher()
  /// Whether a directory is on a file system that other machines may change. Tests have another opinion.
  var isSharedDirectory: @Sendable (String) -> Bool = { directory in
    (try? FileSystemType.of(directory))?.isShared ?? false
  }

  private init() {
    pthread_atfork(
      { Engine.shared.beforeFork() }, { Engine.shared.afterForkInParent() }, { Engine.shared.afterForkInChild() })
    atexit { Engine.shared.writer.flushAtExit() }
  }

  // MARK: Registry (under the lock)

  func file(
    ofDomain name: String, user: PersistentDomain.User = .current, host: String? = nil,
    for configuration: SearchList.Configuration
  ) -> DomainFile {
    file(configuration.locations.file(ofDomain: name, user: user, host: host), ofDomain: name, for: configuration)
  }

  private func file(
    _ place: PreferenceFile, ofDomain name: String, for configuration: SearchList.Configuration
  ) -> DomainFile {
    if let file = files[place]?.file { return file }
    if files.count > 64 { files = files.filter { $0.value.file != nil } }
    let file = DomainFile(name: name, file: place, sink: configuration.sink)
    files[place] = WeakFile(file: file)
    return file
  }

  func files(ofDomain name: String, for configuration: SearchList.Configuration) -> DomainFiles {
    let locations = configuration.locations
    func parts(_ pair: PreferenceLocations.FilePair) -> [DomainFiles.UserFile] {
      [
        DomainFiles.UserFile(file: file(pair.perHost, ofDomain: name, for: configuration), isPerHost: true),
        DomainFiles.UserFile(file: file(pair.anyHost, ofDomain: name, for: configuration), isPerHost: false),
      ]
    }
    let own = parts(locations.files(ofDomain: name))
    var ofUser = own
    if let (shared, comeFirst) = locations.sharedFiles(ofDomain: name) {
      ofUser = comeFirst ? parts(shared) + own : own + parts(shared)
    }
    return DomainFiles(
      name: name, ofUser: ofUser, user: own[1].file,
      anyUserHost: file(ofDomain: name, user: .any, host: configuration.hostIdentifier, for: configuration),
      anyUser: file(ofDomain: name, user: .any, for: configuration))
  }

  func policy(of installation: Installation) -> PolicySource {
    if let policy = policies[installation] { return policy }
    let policy = PolicySource(installation)
    policies[installation] = policy
    return policy
  }

  func add(_ list: ListState) {
    let id = ObjectIdentifier(list)
    lists[id] = list
    // The last other list may have gone since the policy was loaded for this one.
    policies[list.policy.installation] = list.policy
    list.policy.users[id] = list
    for file in list.files { file.users[id] = list }
  }

  /// - Returns: a synced store that no list uses any more, for the caller to let go without the lock.
  func remove(_ list: ListState) -> RoamingSource? {
    let id = ObjectIdentifier(list)
    lists[id] = nil
    list.isRemoved = true
    list.policy.users[id] = nil
    if list.policy.users.isEmpty { policies[list.policy.installation] = nil }
    for file in list.files { file.users[id] = nil }
    guard let roaming = list.roaming else { return nil }
    roaming.users[id] = nil
    if !roaming.users.isEmpty { return nil }
    roamingSources = roamingSources.filter { $0.value !== roaming }
    return roaming
  }

  // MARK: Looking at the disk (without the lock)

  /// Reads a file that was never read, or that another process replaced.
  /// - Parameter waiting: false passes over a file that this process is writing.
  /// - Returns: what observers are to be told; nil where the file was passed over.
  func refresh(_ file: DomainFile, waiting: Bool) -> [Notice]? {
    if waiting { file.disk.lock() } else if !file.disk.tryLock() { return nil }
    // What makes a file one that can't be trusted may be its directory, or a link: it is looked at anew each time.
    let isTrusted = lock.withLock { file.faults[.untrusted] == nil }
    if file.isLoaded && isTrusted && !file.file.isOutdated(since: file.version, isShared: isShared(file)) {
      file.disk.unlock()
      return []
    }
    let roamed = !file.isLoaded ? file.file.roamedKeys() : []
    let reading = file.file.read()
    // Only who holds `disk` changes what is stored, so the comparison needs no lock that setters wait for.
    let before = lock.withLock { file.contents.stored }
    // What was once read whole is better than nothing: a file that was damaged meanwhile takes nothing away.
    let isLost = file.isLoaded && [.damaged, .unreadable].contains(reading.fault?.kind)
    let values = isLost ? before : reading.values
    let keys = DomainContents.changedKeys(from: before, to: values)
    lock.lock()
    file.contents.stored = values
    file.version = reading.version
    file.isLoaded = true
    file.roamed.formUnion(roamed)
    let events = note(reading.fault.map { [$0] } ?? [], clearing: [.unreadable, .untrusted, .damaged], in: file)
    let sink = file.sink
    let (notices, refill) = publishChanges(of: file, keys: keys, source: .otherProcess, receiver: nil)
    lock.unlock()
    file.disk.unlock()
    for event in events { sink.send(event) }
    return notices + fill(refill, .otherProcess, domain: file.name)
  }

  /// Whether other machines may change a file. Asked once for each, by the holder of its `disk`; without the lock.
  func isShared(_ file: DomainFile) -> Bool {
    let (known, ask) = lock.withLock { (file.isShared, isSharedDirectory) }
    if let known { return known }
    let isShared = ask(file.directory)
    lock.withLock { file.isShared = isShared }
    return isShared
  }

  func refresh(_ file: DomainFile) -> [Notice] { refresh(file, waiting: true) ?? [] }

  /// Publishes what the lists that use a file read for keys that may have changed in it. Under the lock.
  /// - Returns: what to tell, and the lists whose tables are better filled anew.
  func publishChanges(
    of file: DomainFile, keys: [String], source: SearchListChange.Source, receiver: ListState?
  ) -> (notices: [Notice], refill: [ListState]) {
    if keys.isEmpty { return ([], []) }
    if keys.count > 64 {
      for list in file.users.values { list.overdue = (receiver === list ? .receiver : source, file.name) }
      return ([], Array(file.users.values))
    }
    var notices: [Notice] = []
    for list in file.users.values {
      let own = receiver === list ? SearchListChange.Source.receiver : source
      let changed = keys.filter { list.publishChange(ofKey: $0, own) }
      if let notice = Notice(list, own, domain: file.name, keys: changed) { notices.append(notice) }
    }
    return (notices, [])
  }

  func fill(
    _ lists: [ListState], _ source: SearchListChange.Source, domain: String?, receiver: ListState? = nil
  ) -> [Notice] {
    lists.compactMap { $0.fill(self, receiver === $0 ? .receiver : source, domain: domain) }
  }

  /// Fills the tables of a list that another thread has still to fill, or waits for one that is filling them: what it has taken
  /// in can be read then, however long that thread stands still.
  func fillOverdue(_ list: ListState) -> [Notice] {
    if let overdue = lock.withLock({ list.overdue }) {
      return list.fill(self, overdue.source, domain: overdue.domain).map { [$0] } ?? []
    }
    list.filling.withLock {}
    return []
  }

  /// Takes in a new generation, if there is one, and window edges that have passed.
  /// - Parameter sink: where new faults are told; nil: to a list's that uses the policy.
  /// - Returns: what observers are to be told; nil where another thread is looking just now.
  func refresh(
    _ policy: PolicySource, waiting: Bool, reportingTo sink: (any AuditEventSink)? = nil
  ) -> [Notice]? {
    if waiting { policy.disk.lock() } else if !policy.disk.tryLock() { return nil }
    let current = lock.withLock { policy.domain }
    let load = policy.reload(keeping: current)
    lock.lock()
    var events: [(AuditEvent, any AuditEventSink)] = []
    if let load {
      let news = policy.take(load)
      if !news.isEmpty, let sink = sink ?? policy.users.values.first?.configuration.sink {
        events.append((event(for: news, of: policy), sink))
      }
    }
    var outdated: [ListState] = []
    var roamingMore: [ListState] = []
    for list in policy.users.values {
      let now = list.configuration.clock()
      let isNew = list.view.domain !== policy.domain || list.view.isUnavailable != policy.isUnavailable
      if isNew || list.hasLostFilling || list.view.isOutdated(at: now) {
        let roamed = list.roamingKeys
        list.view = PolicyView(policy, user: list.configuration.userFacts, instant: now)
        if list.holdUnsent(of: list.roamingKeys.subtracting(roamed)) { roamingMore.append(list) }
        list.overdue = (.policy, nil)
        outdated.append(list)
      }
    }
    lock.unlock()
    policy.disk.unlock()
    for (event, sink) in events { sink.send(event) }
    let notices = openRoaming(for: outdated) + fill(outdated, .policy, domain: nil)
    // Only now: it may wait for who has the domain locked, and what is forced does not.
    return notices + roamingMore.flatMap { offerUnsent(of: $0) }
  }

  func refresh(_ policy: PolicySource, reportingTo sink: (any AuditEventSink)? = nil) -> [Notice] {
    refresh(policy, waiting: true, reportingTo: sink) ?? []
  }

  private func event(for faults: [DomainFault], of policy: PolicySource) -> AuditEvent {
    let inForce: PropertyListValue =
      switch policy.state {
      case .notInstalled: .string("nothing")
      case .loaded(let domain): .string("generation \(domain.generation)")
      case .unavailable: .string("everything counts as forced")
      }
    return AuditEvent(
      .domainDamaged,
      fields: [
        "path": .string(policy.installation.stateDirectory), "inForce": inForce,
        "faults": .array(faults.map { .string($0.description) }),
      ])
  }

  /// Replaces a file's faults of some kinds; each new one becomes an event. Under the lock.
  func note(
    _ faults: [PreferencesFault], clearing kinds: [PreferencesFault.Kind], in file: DomainFile
  ) -> [AuditEvent] {
    var events: [AuditEvent] = []
    for fault in faults where file.faults[fault.kind] != fault {
      events.append(AuditEvent(fault, inDomain: file.name))
    }
    for kind in kinds where !faults.contains(where: { $0.kind == kind }) { file.faults[kind] = nil }
    for fault in faults { file.faults[fault.kind] = fault }
    return events
  }

  // MARK: Fork

  private func beforeFork() {
    watcher.gate.beforeFork()
    writer.gate.beforeFork()
    lock.lock()
    KeySpelling.lock.lock()
  }

  private func afterForkInParent() {
    KeySpelling.lock.unlock()
    lock.unlock()
    writer.gate.afterForkInParent()
    watcher.gate.afterForkInParent()
  }

  private func afterForkInChild() {
    KeySpelling.lock.renew()
    lock.renew()
    writer.renewAfterFork()
    watcher.renewAfterFork()
    for list in lists.values { list.renewAfterFork() }
    for list in lists.values { list.languages.renewAfterFork() }
    for policy in policies.values { policy.disk.renew() }
    // The store, and what it has not saved, is the parent's.
    for source in roamingSources.values { source.unsaved = [:] }
    for file in files.values.compactMap(\.file) {
      file.disk.renew()
      (file.unsent, file.marked, file.newlyRoamed) = ([:], [:], [])
      file.contents.stored = file.contents.merged
      file.contents.inFlight = DomainChanges()
      file.contents.pending = DomainChanges()
      // Read again at the next look: by then the parent has written.
      file.version = nil
    }
  }
}
