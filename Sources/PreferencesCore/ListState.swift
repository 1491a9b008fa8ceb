import AuditEvents
import ForcedDomain
import PropertyList
import Synchronization

/// The writing side of a search list: its stores, its observers, and the tables that its readers see.
///
/// Guarded by the engine's lock, except `filling`, which serializes filling and is taken first.
final class ListState: @unchecked Sendable {
  let configuration: SearchList.Configuration
  let own: DomainFiles
  /// `NSGlobalDomain`; the same files as `own` in a list for that domain.
  let global: DomainFiles
  let policy: PolicySource
  let filling = EngineLock()
  let published: PublishedSnapshot

  /// Newest first.
  var suites: [DomainFiles] = []
  var view = PolicyView() { didSet { updateRoamingKeys() } }
  /// Keys that the application lets roam.
  var declaredRoaming: Set<String> = []
  /// Those, and the ones that the policy names.
  var roamingKeys: Set<String> = []
  /// The synced store, once a key roams.
  var roaming: RoamingSource?
  /// Why the synced store can't be opened.
  var roamingFault: PreferencesFault?
  /// Whether the list is in nobody's hands any more.
  var isRemoved = false
  var argument: [String: PropertyListValue]?
  var registration: [String: PropertyListValue]? = [:]
  let languages: LanguageDomains
  /// Language domains that were removed (nil), or replaced after that.
  var replacedLanguages: [String: [String: PropertyListValue]?] = [:]
  /// Whether the next filling is to include the language domains.
  var wantsLanguages = false
  /// Whether the tables that readers see include them.
  let hasLanguages = Atomic(false)
  /// Volatile domains of other names: kept, never searched.
  var custom: [String: [String: PropertyListValue]] = [:]
  var observers: [UInt64: @Sendable (SearchListChange) -> Void] = [:]
  var keyObservers: [String: [(id: UInt64, observer: KeyObserver)]] = [:]
  /// The keys of `keyObservers`, by id.
  var observedKeys: [UInt64: String] = [:]
  /// How many of `keyObservers` want to know before a change.
  var priorObservers = 0
  var lastObserverID: UInt64 = 0
  /// Observers of keys with something queued that no notice has taken over yet.
  var untold: [KeyObserver] = []
  /// Domains that were changed through this list, besides its own.
  var touched: [String: DomainFile] = [:]

  /// What the tables that readers see do not show yet, since a thread has still to fill them: whose change it is, and in which
  /// domain.
  var overdue: (source: SearchListChange.Source, domain: String?)?

  /// Whether who was to fill the tables, or was filling them, is not there any more: this is a child of a fork.
  private(set) var hasLostFilling = false

  private var isFilling = false
  private var changedWhileFilling: Set<String> = []

  init(_ configuration: SearchList.Configuration, own: DomainFiles, global: DomainFiles, policy: PolicySource) {
    self.configuration = configuration
    self.own = own
    self.global = global
    self.policy = policy
    languages = configuration.languages.map(LanguageDomains.init(locales:)) ?? .ofThisProcess
    argument = configuration.arguments.isEmpty ? [:] : ArgumentDomain.parse(configuration.arguments)
    published = PublishedSnapshot(
      Snapshot(base: SlotTable(capacity: 1), changes: nil, everythingIsForced: false))
  }

  /// The domains in the order of layer 1, which the other layers of several domains keep.
  var domains: [DomainFiles] {
    own.name == GlobalDomain.name ? [own] + suites : [own] + suites + [global]
  }

  var files: [DomainFile] { domains.flatMap(\.all) }

  /// The search list (see `LayerSource`).
  func sources() -> [LayerSource] {
    let registered = LayerSource(
      layer: .registration, domain: "", path: nil, contents: .values(registration ?? [:]))
    // Nothing may be set by a user or a command line where a policy that can't be read may have forced it.
    if view.isUnavailable { return [registered] }
    var sources: [LayerSource] = []
    appendPolicy(.forced, .forced, to: &sources)
    sources.append(LayerSource(layer: .argument, domain: "", path: nil, contents: .values(argument ?? [:])))
    if let roaming, !roamingKeys.isEmpty {
      sources.append(
        LayerSource(
          layer: .roaming, domain: own.name, path: roaming.layer.path,
          contents: .roaming(roaming.contents, keys: roaming.answering(roamingKeys))))
    }
    if own.name != GlobalDomain.name {
      append(own, .applicationHost, .application, to: &sources)
    }
    for suite in suites { append(suite, .suiteHost, .suite, to: &sources) }
    append(global, .globalHost, .global, to: &sources)
    for domain in domains {
      sources.append(source(.anyUser, domain.anyUserHost))
      sources.append(source(.anyUser, domain.anyUser))
    }
    appendLanguages(to: &sources)
    appendPolicy(.recommended, .recommended, to: &sources)
    sources.append(registered)
    return sources
  }

  private func append(
    _ domain: DomainFiles, _ perHost: Layer, _ anyHost: Layer, to sources: inout [LayerSource]
  ) {
    for part in domain.ofUser { sources.append(source(part.isPerHost ? perHost : anyHost, part.file)) }
  }

  private func source(_ layer: Layer, _ file: DomainFile) -> LayerSource {
    LayerSource(layer: layer, domain: file.name, path: file.path, contents: .file(file.contents))
  }

  private func appendPolicy(_ layer: Layer, _ section: PolicySection, to sources: inout [LayerSource]) {
    guard let domain = view.domain, let truth = view.truth else { return }
    for name in domains.map(\.name) {
      sources.append(
        LayerSource(
          layer: layer, domain: name, path: policy.installation.forcedFile, contents: .policy(domain, truth, section)))
    }
  }

  // MARK: Tables

  /// Fills the tables anew from all stores. Called without the engine's lock.
  /// - Parameter isFirst: the list is not in anybody's hands yet, so no read can be under way.
  /// - Returns: what to tell of the keys whose values, or whose being forced, changed.
  func fill(
    _ engine: Engine, _ source: SearchListChange.Source, domain: String?, isFirst: Bool = false
  ) -> Notice? {
    filling.lock()
    defer { filling.unlock() }
    let (sources, isUnavailable) = engine.lock.withLock { () -> ([LayerSource], Bool) in
      isFilling = true
      (overdue, hasLostFilling) = (nil, false)
      changedWhileFilling = []
      return (self.sources(), view.isUnavailable)
    }
    let table = filledTable(sources)
    return engine.lock.withLock { () -> Notice? in
      let before = published.current
      // What changed meanwhile goes out with the table: nobody may see the older value again.
      let next = Snapshot(base: table, changes: changesWhileFilling(), everythingIsForced: isUnavailable)
      if isFirst { published.publishFirst(next) } else { published.publish(next) }
      isFilling = false
      noteChangeOfAllKeys(source)
      return Notice(self, source, domain: domain, keys: observers.isEmpty ? [] : changedKeys(since: before))
    }
  }

  private func changesWhileFilling() -> SlotTable? {
    if changedWhileFilling.isEmpty { return nil }
    let changes = SlotTable(capacity: changedWhileFilling.count * 2)
    for key in changedWhileFilling { Self.put(key, winner(ofKey: key)) { changes.put($0, $1, layer: $2, $3) } }
    return changes
  }

  private func changedKeys(since before: Snapshot) -> [String] {
    let after = published.current
    let all = before.everythingIsForced != after.everythingIsForced
    var keys: [String] = []
    after.visit { hash, key, entry in
      let old = before.entry(hash, key)
      // Language domains that were only now made: whoever read one of their keys had them made for it.
      if old == nil, entry.description.layer == .language, !hasLanguages.load(ordering: .relaxed) { return }
      if all || !(old?.isSame(as: entry) ?? false) { keys.append(String(decoding: key, as: UTF8.self)) }
    }
    before.visit { hash, key, _ in
      if after.entry(hash, key) == nil { keys.append(String(decoding: key, as: UTF8.self)) }
    }
    return keys
  }

  /// Publishes the winner of one key after a store below the policy changed. Under the engine's lock.
  /// - Returns: whether what is read changed.
  func publishChange(ofKey key: String, _ source: SearchListChange.Source) -> Bool {
    if isFilling { changedWhileFilling.insert(key) }
    let old = entry(ofKey: key)
    // Forced entries change only with the policy, and then all tables are filled anew.
    if let old, old.isForced { return false }
    let winner = winner(ofKey: key)
    if winner == nil && old == nil { return false }
    let isSame = old != nil && winner != nil && old?.value == winner?.value
    if isSame && old?.description.layer == winner?.layer { return false }
    Self.put(key, winner, put)
    if !isSame { noteChange(ofKey: key, source) }
    return !isSame
  }

  /// The first layer that has a key, and its value, from the stores as they are now.
  func winner(ofKey key: String) -> (layer: Layer, value: PropertyListValue)? {
    for source in sources() {
      if let value = source.value(forKey: key) { return (source.layer, value) }
    }
    return nil
  }

  private static func put(
    _ key: String, _ winner: (layer: Layer, value: PropertyListValue)?,
    _ put: (UInt64, UnsafeRawBufferPointer, Layer, TableValue) -> Void
  ) {
    var key = key
    key.withUTF8 { bytes in
      KeySpelling.withStored(UnsafeRawBufferPointer(bytes)) { bytes in
        let hash = KeyHash.hash(bytes)
        if let winner {
          TableValue.with(winner.value) { put(hash, bytes, winner.layer, $0) }
        } else {
          put(hash, bytes, .registration, .absent)
        }
      }
    }
  }

  private func put(_ hash: UInt64, _ key: UnsafeRawBufferPointer, _ layer: Layer, _ value: TableValue) {
    let current = published.current
    if let changes = current.changes, !changes.isFull {
      changes.put(hash, key, layer: layer, value)
      return
    }
    let changes = current.changes?.compacted() ?? SlotTable(capacity: 16)
    changes.put(hash, key, layer: layer, value)
    published.publish(
      Snapshot(
        base: current.base, changes: changes, everythingIsForced: current.everythingIsForced))
  }

  /// Whether so much has changed since the last filling that reads profit from another.
  var wantsFilling: Bool {
    guard let changes = published.current.changes else { return false }
    return changes.live > 64 && changes.live > published.current.base.live / 16
  }

  /// What readers see for a key, nil where no layer has it. Under the engine's lock.
  func entry(ofKey key: String) -> TableEntry? {
    var key = key
    return key.withUTF8 { bytes in
      KeySpelling.withStored(UnsafeRawBufferPointer(bytes)) { published.current.entry(KeyHash.hash($0), $0) }
    }
  }

  func isForced(_ key: String) -> Bool {
    view.isUnavailable || (entry(ofKey: key)?.isForced ?? false)
  }

  /// In a forked child: whoever was filling is not there, and the next look at the policy does it.
  func renewAfterFork() {
    filling.renew()
    hasLostFilling = isFilling || overdue != nil
    isFilling = false
    for (_, observer) in keyObservers.values.joined() { observer.renewAfterFork() }
  }
}
