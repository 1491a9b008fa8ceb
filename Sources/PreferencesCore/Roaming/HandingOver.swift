import AuditEvents
import ForcedDomain
import LinuxFiles

/// How edits that a store could not take get there in the end (6 of `RoamingSource`).
extension ListState {
  /// Whether an edit of a key of the list's own domain is to be marked: the key roams, and there is no store, or one that could
  /// not be reached; or it has roamed before, and may again. Takes down that a key roams. Under the engine's lock.
  func needsMark(_ key: String) -> Bool {
    guard hasStore else { return false }
    if !roamingKeys.contains(key) { return own.user.roamed.contains(key) }
    noteRoamed([key])
    return roaming?.layer.isFailing ?? true
  }

  /// Takes down that keys roam. Under the engine's lock.
  func noteRoamed(_ keys: some Sequence<String>) {
    own.user.newlyRoamed.formUnion(Set(keys).subtracting(own.user.roamed))
  }

  /// Has the file answer for keys that roam from now on as far as there are marks of them: what the store has is from before.
  /// Under the engine's lock.
  /// - Returns: whether the store is to be offered what is marked.
  func holdUnsent(of keys: Set<String>) -> Bool {
    guard let roaming, !keys.isEmpty else { return false }
    roaming.held.formUnion(keys.filter { own.user.unsent[$0] != nil || own.user.marked[$0] != nil })
    return true
  }

  /// Whether the list's domain is one that has a store.
  var hasStore: Bool { own.name != GlobalDomain.name && configuration.account == nil }
}

extension Engine {
  /// Writes the marks of a list, and offers what is marked to its store. Without the lock.
  /// - Returns: what observers are to be told.
  func offerUnsent(of list: ListState) -> [Notice] {
    guard let source = lock.withLock({ list.roaming }) else { return [] }
    writer.flush(list.own.user, lockTimeout: 1)
    return offerUnsent(to: source)
  }

  /// Offers what is marked as unsent to the store. Without the lock: it reads the disk.
  /// - Returns: what observers are to be told.
  func offerUnsent(to source: RoamingSource) -> [Notice] {
    var notices: [Notice] = []
    var hasOffered = false
    for list in lock.withLock({ Array(source.users.values) }) {
      let file = list.own.user
      let marks = file.file.unsentEdits()
      lock.withLock {
        file.marked = marks.mapValues(\.time)
        source.held.formIntersection(marks.keys)
      }
      if marks.isEmpty { continue }
      // The value that the mark is of.
      notices += refresh(file)
      lock.lock()
      var refusals: [PreferencesFault] = []
      for (key, edit) in marks where list.roamingKeys.contains(key) {
        if let known = source.unsaved[key], known >= edit.time { continue }
        switch source.layer.offer(file.contents.value(forKey: key), forKey: key, edit) {
        case .settled:
          source.unsaved[key] = edit.time
          source.held.remove(key)
          hasOffered = true
        case .refused(let reason):
          if source.held.insert(key).inserted {
            let message = "the value of \(key) can't roam: \(reason)"
            refusals.append(PreferencesFault(.notRoaming, path: source.layer.path, message: message))
          }
        case .notHere: source.held.insert(key)
        }
      }
      source.contents = source.layer.contents
      // What the store had came first until now, or does so no longer.
      for key in marks.keys { _ = list.publishChange(ofKey: key, .otherProcess) }
      lock.unlock()
      for refusal in refusals { list.configuration.sink.send(AuditEvent(refusal, inDomain: file.name)) }
    }
    if hasOffered { _ = save(source) }
    return notices
  }

  /// Has a store save what was set. Without the lock.
  /// - Parameter lockTimeout: seconds to wait for another process that has the domain locked, for the marks.
  /// - Returns: false where it is not on the disk.
  func save(_ source: RoamingSource, lockTimeout: Double = 10) -> Bool {
    let edits = lock.withLock { source.unsaved }
    let isSaved = source.layer.synchronize()
    settle(source, edits, isSaved: isSaved, lockTimeout: lockTimeout)
    return isSaved
  }

  /// Takes note of what became of edits: those that were saved need no mark any longer, the others get one. Without the lock.
  func settle(_ source: RoamingSource, _ edits: [String: Int64], isSaved: Bool, lockTimeout: Double = 10) {
    var settled: [(DomainFile, [String: Int64])] = []
    var unsaved: [DomainFile] = []
    lock.withLock {
      let files = source.users.values.map(\.own.user).reduce(into: [DomainFile]()) { files, file in
        if !files.contains(where: { $0 === file }) { files.append(file) }
      }
      if isSaved {
        for (key, time) in edits where source.unsaved[key] == time { source.unsaved[key] = nil }
      }
      for file in files {
        if isSaved {
          for (key, time) in edits where file.unsent[key] == time { file.unsent[key] = nil }
          let marked = file.marked.filter { edits[$0.key] == $0.value }
          for key in marked.keys { file.marked[key] = nil }
          if !marked.isEmpty { settled.append((file, marked)) }
        } else {
          for (key, time) in edits where file.marked[key] != time { file.unsent[key] = time }
          if !file.unsent.isEmpty { unsaved.append(file) }
        }
      }
    }
    // A mark too many changes nothing, and is looked at again.
    for (file, marked) in settled { try? file.file.settleUnsent(marked, lockTimeout: lockTimeout) }
    for file in unsaved { writer.flush(file, lockTimeout: lockTimeout) }
  }

  /// Whether no key of a list is marked as unsent, as long as there is somebody who could open its store. Without the lock.
  func hasHandedOver(_ list: ListState) -> Bool {
    let asks = lock.withLock { list.hasStore && !list.roamingKeys.isEmpty }
    guard asks, (list.configuration.openRoamingLayer ?? RoamingLayers.opener) != nil else { return true }
    let file = list.own.user
    let marked = file.file.unsentEdits().mapValues(\.time)
    return lock.withLock {
      file.marked = marked
      return file.unsent.isEmpty && list.roamingKeys.isDisjoint(with: marked.keys)
    }
  }

  /// What no store has saved when the process ends is marked for the next. Without the lock.
  func saveRoaming(lockTimeout: Double) {
    for source in lock.withLock({ Array(roamingSources.values) }) where source.layer.hasUnsaved {
      _ = save(source, lockTimeout: lockTimeout)
    }
  }
}
