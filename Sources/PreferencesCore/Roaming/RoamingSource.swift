import AuditEvents
import ForcedDomain
import LinuxFiles
import PropertyList

/// An application's synced store, shared by the lists of the process in which keys of it roam.
///
/// All members are guarded by the engine's lock. The rules, of which this folder has the only copy:
///
/// 1. A key roams that the application declares (`declareRoaming`), or the policy names for it (`roaming:`).
/// 2. Of a key that roams, the store is asked after the forced domain and the command line, before any file.
/// 3. What is set or removed goes to the store and to the application's own file; what others change in the store is
///    carried over to that file. So the file holds what the store does: it answers where there is no store (other programs,
///    a damaged store), and it keeps the value when the key is taken out of the policy.
/// 4. A forced key stays what the policy says. What is set goes underneath, into the store as into the file; a forced value
///    goes into neither.
/// 5. What the store does not take (it is full, the key is too long) stays on this machine, with a fault; where the store has
///    an older value, which would hide it, nothing is changed.
/// 6. What the store could not take because it could not be opened or written is marked beside the file (`UnsentEdit`), comes
///    before what the store has, is not carried over by older values, and is offered to the store once that is there.
/// 7. Registered and recommended values never get into the store.
final class RoamingSource: @unchecked Sendable {
  let layer: any RoamingLayer
  var contents: RoamingContents
  var users: [ObjectIdentifier: ListState] = [:]
  /// When keys were set that the store may not have saved yet, in milliseconds since 1970.
  var unsaved: [String: Int64] = [:]
  /// Keys whose marked edits the store does not take (6): the file answers.
  var held: Set<String> = []

  init(_ layer: any RoamingLayer) {
    self.layer = layer
    contents = layer.contents
  }

  /// The keys that roam in any list.
  var keys: Set<String> { users.values.reduce(into: []) { $0.formUnion($1.roamingKeys) } }

  /// Those of the keys that the store answers.
  func answering(_ keys: Set<String>) -> Set<String> { held.isEmpty ? keys : keys.subtracting(held) }

  /// Sets or removes a key by rules 3 and 5. Under the engine's lock.
  /// - Returns: nil where the store has taken it.
  func set(_ value: PropertyListValue?, forKey key: String, now: Int64) -> Refusal? {
    if let reason = layer.set(value, forKey: key) {
      let message = "the value of \(key) can't roam: \(reason)"
      return Refusal(
        fault: PreferencesFault(.notRoaming, path: layer.path, message: message),
        isHidden: contents.values[key] != nil && !held.contains(key))
    }
    contents.set(value, forKey: key)
    unsaved[key] = now
    held.remove(key)
    return nil
  }

  struct Refusal {
    let fault: PreferencesFault
    /// Whether the store holds another value, which comes before whatever a file has.
    let isHidden: Bool
  }
}

extension ListState {
  /// The keys that roam (1). Under the engine's lock.
  func updateRoamingKeys() {
    roamingKeys = declaredRoaming
    if let domain = view.domain, let truth = view.truth {
      roamingKeys.formUnion(domain.roamingKeys(of: own.name, under: truth))
    }
  }

  /// The store that a key is kept in; nil for one that does not roam.
  func roaming(ofKey key: String) -> RoamingSource? { roamingKeys.contains(key) ? roaming : nil }

  /// Carries what the store holds over to the application's own file (3). Under the engine's lock.
  /// - Parameter gone: keys that the store had until now and knows nothing of any more: another account's contents took its
  ///   place.
  /// - Returns: the keys that the file has other values of now.
  func carryOverRoaming(_ engine: Engine, gone: Set<String> = []) -> [String] {
    // A command that answers once writes nothing.
    guard let roaming, configuration.observes, !view.isUnavailable else { return [] }
    let file = own.user
    let keys = roaming.answering(roamingKeys).filter { key in
      let value = roaming.contents.values[key]
      if value == nil && !roaming.contents.removed.contains(key) && !gone.contains(key) { return false }
      return file.contents.value(forKey: key) != value
    }
    if keys.isEmpty { return [] }
    noteRoamed(keys)
    for key in keys { file.contents.pending.values.updateValue(roaming.contents.values[key], forKey: key) }
    file.sink = configuration.sink
    engine.writer.schedule(file)
    return Array(keys)
  }
}

extension Engine {
  /// Opens the synced stores of lists in which keys roam and that have none yet. Without the lock: it reads the disk.
  /// - Returns: what observers are to be told.
  func openRoaming(for lists: [ListState]) -> [Notice] {
    lists.flatMap { list -> [Notice] in
      let needs = lock.withLock {
        list.roaming == nil && !list.roamingKeys.isEmpty && list.own.name != GlobalDomain.name
          && list.configuration.account == nil
      }
      guard needs, let open = list.configuration.openRoamingLayer ?? RoamingLayers.opener else { return [] }
      let place = list.configuration.locations.roamingPlace(ofDomain: list.own.name)
      do throws(PreferencesFault) {
        let source = try roamingSource(at: place, open)
        lock.withLock {
          if list.isRemoved { return }
          list.roaming = source
          list.roamingFault = nil
          source.users[ObjectIdentifier(list)] = list
        }
        let offered = offerUnsent(to: source)
        let (notices, refill) = lock.withLock { () -> ([Notice], [ListState]) in
          if list.isRemoved { return ([], []) }
          let changed = list.carryOverRoaming(self)
          return publishChanges(of: list.own.user, keys: changed, source: .otherProcess, receiver: nil)
        }
        // The list itself is filled by the caller, with what its store has.
        return offered + notices + fill(refill.filter { $0 !== list }, .otherProcess, domain: list.own.name)
      } catch {
        let isNew = lock.withLock {
          let isNew = list.roamingFault != error
          list.roamingFault = error
          return isNew
        }
        if isNew { list.configuration.sink.send(AuditEvent(error, inDomain: list.own.name)) }
        return []
      }
    }
  }

  private func roamingSource(at place: RoamingPlace, _ open: RoamingLayers.Opener) throws(PreferencesFault)
    -> RoamingSource
  {
    if let known = lock.withLock({ roamingSources[place] }) { return known }
    let source = RoamingSource(try open(place))
    let (kept, isOurs) = lock.withLock { () -> (RoamingSource, Bool) in
      if let known = roamingSources[place] { return (known, false) }
      roamingSources[place] = source
      return (source, true)
    }
    if isOurs {
      source.layer.observe { [weak source] in
        guard let source else { return }
        for notice in Engine.shared.takeRoaming(source) { notice.deliver() }
      }
    }
    return kept
  }

  /// Takes in what others changed in a store. Without the lock.
  /// - Returns: what observers are to be told.
  func takeRoaming(_ source: RoamingSource) -> [Notice] {
    let offered = offerUnsent(to: source)
    if source.layer.isFailing { settle(source, lock.withLock { source.unsaved }, isSaved: false) }
    lock.lock()
    let before = source.contents
    source.contents = source.layer.contents
    let keys = source.keys
    var changed = Set(DomainContents.changedKeys(from: before.values, to: source.contents.values))
    changed.formUnion(source.contents.removed.subtracting(before.removed))
    changed.formIntersection(keys)
    let gone = Set(before.values.keys).subtracting(source.contents.values.keys)
    var files: [ObjectIdentifier: DomainFile] = [:]
    for list in source.users.values {
      changed.formUnion(list.carryOverRoaming(self, gone: gone))
      files[ObjectIdentifier(list.own.user)] = list.own.user
    }
    var notices: [Notice] = []
    var refill: [ListState] = []
    var domain: String?
    for file in files.values {
      domain = file.name
      let (told, lists) = publishChanges(of: file, keys: Array(changed), source: .otherProcess, receiver: nil)
      notices += told
      refill += lists
    }
    lock.unlock()
    return offered + notices + fill(refill, .otherProcess, domain: domain)
  }
}

extension SearchList {
  /// Lets keys roam: their values are kept in the application's synced store, from where they follow the user to other
  /// machines, as if the policy had named them under `roaming:`.
  ///
  /// Concerns this list; keys that were declared stay declared. A list for `NSGlobalDomain`, and one of another account, has
  /// no store: the keys stay where they are.
  public func declareRoaming(_ keys: some Sequence<String>) {
    let roamsMore = engine.lock.withLock {
      let roamed = state.roamingKeys
      state.declaredRoaming.formUnion(keys)
      state.updateRoamingKeys()
      return state.holdUnsent(of: state.roamingKeys.subtracting(roamed))
    }
    var notices = roamsMore ? engine.offerUnsent(of: state) : []
    notices += engine.openRoaming(for: [state])
    notices += engine.fill([state], .receiver, domain: nil, receiver: state)
    for notice in notices { notice.deliver() }
  }

  /// The keys that roam now, by declaration and by policy; sorted by their bytes.
  public var roamingKeys: [String] { engine.lock.withLock { state.roamingKeys }.sortedByBytes() }
}
