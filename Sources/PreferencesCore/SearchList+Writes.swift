import AuditEvents
import LinuxFiles
public import PropertyList

/// Setting and removing. Nothing here waits for the disk, except `synchronize` and `writePromptly`.
extension SearchList {
  /// Sets a key in the list's domain, for this user on any host; nil removes it.
  ///
  /// A forced key keeps the value that the policy gives it: what is set is stored underneath and seen again when the policy
  /// releases the key. Each such attempt is an audit event. A nearer layer (the command line, this host's file) hides what
  /// is set as well: what is read afterwards tells, and `resolution(of:)` says which layer it is.
  /// - Returns: whether the persistent domain changed.
  /// - Precondition: the key is not empty.
  @discardableResult
  public func set(_ value: PropertyListValue?, forKey key: String) -> Bool {
    precondition(!key.isEmpty, "a preference can't be set under an empty key")
    let file = state.own.user
    engine.lock.lock()
    let roaming = state.roaming(ofKey: key)
    engine.announce(in: file.users.values, receiver: state, key: key) { look in
      let contents = file.contents
      let roamingContents = roaming?.contents
      file.contents.pending.values.updateValue(value, forKey: key)
      roaming?.contents.set(value, forKey: key)
      look()
      file.contents = contents
      if let roamingContents { roaming?.contents = roamingContents }
    }
    let isChange =
      file.contents.value(forKey: key) != value || roaming.map { $0.contents.values[key] != value } ?? false
    let now = WallClock.unixMilliseconds()
    let refusal = roaming?.set(value, forKey: key, now: now)
    if let refusal, refusal.isHidden {
      engine.lock.unlock()
      report(refusal.fault)
      return false
    }
    // Written even where it changes nothing here: another process may have set something else meanwhile.
    file.contents.pending.values.updateValue(value, forKey: key)
    if refusal == nil, state.needsMark(key) { file.unsent[key] = now }
    file.sink = configuration.sink
    engine.writer.schedule(file)
    let isForced = state.isForced(key)
    var notices: [Notice] = []
    if isChange {
      for list in file.users.values {
        let source = list === state ? SearchListChange.Source.receiver : .otherList
        let keys = list.publishChange(ofKey: key, source) ? [key] : []
        if let notice = Notice(list, source, domain: file.name, keys: keys, always: list === state) {
          notices.append(notice)
        }
      }
    }
    engine.lock.unlock()
    if let refusal { report(refusal.fault) }
    if isForced { reportForcedWrite(of: key, value == nil ? "remove" : "set") }
    noteRedirectedWrite(of: key, inDomain: configuration.domain, removing: value == nil)
    for notice in notices { notice.deliver() }
    return isChange
  }

  /// Removes a key from the list's domain; other layers' values come to light.
  @discardableResult
  public func removeValue(forKey key: String) -> Bool { set(nil, forKey: key) }

  /// Tells of a value that stays on this machine.
  func report(_ fault: PreferencesFault) { configuration.sink.send(AuditEvent(fault, inDomain: configuration.domain)) }

  private func reportForcedWrite(of key: String, _ operation: String) {
    configuration.sink.send(
      .forcedWrite(of: key, inDomain: configuration.domain, operation: operation, profiles: forcedBy(key)))
  }

  /// Merges an application's own defaults into the registration layer, key by key; a later call wins. Never written.
  public func register(_ defaults: [String: PropertyListValue]) {
    changeVolatile(keys: Array(defaults.keys)) { state in
      state.registration = (state.registration ?? [:]).merging(defaults) { _, new in new }
    }
  }

  /// Writes what is pending, takes in what others changed (files, policy, windows), and waits for both.
  /// - Returns: false when something that was set through this list is not on the disk, or a key that roams has a value
  ///   here that could not be handed to the synced store. It is kept, and offered to the store once that opens.
  @discardableResult
  public func synchronize() -> Bool {
    let files = engine.lock.withLock {
      if configuration.observes { engine.watcher.wake() }
      return state.files + state.touched.values.filter { file in !state.files.contains { $0 === file } }
    }
    var isWritten = true
    for file in files where !engine.writer.flush(file, lockTimeout: 10) { isWritten = false }
    engine.lock.withLock { state.touched = state.touched.filter { !$0.value.contents.pending.isEmpty } }
    let roaming = engine.lock.withLock { state.roaming }
    if let roaming, !engine.save(roaming) { isWritten = false }
    var notices = engine.refresh(state.policy)
    notices += engine.refresh(files)
    // A store that could not be opened may be sound again.
    if roaming == nil {
      let opened = engine.openRoaming(for: [state])
      if engine.lock.withLock({ state.roaming }) != nil {
        notices += opened + engine.fill([state], .otherProcess, domain: nil)
      }
    } else if let roaming {
      notices += engine.takeRoaming(roaming)
    }
    notices += engine.fillOverdue(state)
    for notice in notices { notice.deliver() }
    return isWritten && engine.hasHandedOver(state)
  }

  /// Writes what was set in the list's own domain, for whoever wants it on the disk and must not be held up for that.
  ///
  /// Waits for the disk, and a tenth of a second at most for another process that has the file locked; not again for that while it
  /// stays locked. What can't be written stays in memory, is read from there, and is tried again in the background.
  /// - Returns: false when something that was set is not on the disk. `synchronize` waits longer and says the same.
  @discardableResult
  public func writePromptly() -> Bool { engine.writer.flushPromptly(state.own.user) }

  /// Changes a volatile layer that is searched, and publishes the keys it concerns.
  func changeVolatile(keys: [String], _ change: (ListState) -> Void) {
    engine.lock.lock()
    engine.announce(in: [state], receiver: state) { look in
      let before = (state.argument, state.registration, state.replacedLanguages)
      change(state)
      look()
      (state.argument, state.registration, state.replacedLanguages) = before
    }
    change(state)
    // One by one up to here; above, filling the table anew costs less.
    if keys.count <= 32 {
      let changed = keys.filter { state.publishChange(ofKey: $0, .receiver) }
      let notice = Notice(state, .receiver, domain: nil, keys: changed)
      engine.lock.unlock()
      notice?.deliver()
    } else {
      engine.lock.unlock()
      for notice in engine.fill([state], .receiver, domain: nil, receiver: state) { notice.deliver() }
    }
  }
}
