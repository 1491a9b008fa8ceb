import LinuxFiles
public import PropertyList

/// Suites, and domains by name.
extension SearchList {
  /// Puts a suite behind the list's own domain and before suites added earlier; one that is there already moves to the
  /// front. Concerns this list alone.
  /// - Returns: false for the application's own domain, `NSGlobalDomain` and a name that can't be a domain's.
  @discardableResult
  public func addSuite(_ name: String) -> Bool {
    if DomainName.fault(in: name) != nil || name == GlobalDomain.name { return false }
    if name == configuration.domain || name == configuration.applicationDomain { return false }
    let suite = engine.lock.withLock { engine.files(ofDomain: name, for: configuration) }
    var notices = engine.refresh(suite.all)
    engine.lock.withLock {
      engine.announce(in: [state], receiver: state) { look in
        let suites = state.suites
        state.suites = [suite] + suites.filter { $0.name != name }
        look()
        state.suites = suites
      }
      state.suites.removeAll { $0.name == name }
      state.suites.insert(suite, at: 0)
      for file in suite.all { file.users[ObjectIdentifier(state)] = state }
      if configuration.observes { engine.watcher.wake() }
    }
    notices += engine.fill([state], .receiver, domain: nil, receiver: state)
    noteRedirectedRead(of: name)
    for notice in notices { notice.deliver() }
    return true
  }

  /// Takes a suite out of this list, in all its layers.
  public func removeSuite(_ name: String) {
    let wasThere = engine.lock.withLock {
      engine.announce(in: [state], receiver: state) { look in
        let suites = state.suites
        state.suites.removeAll { $0.name == name }
        look()
        state.suites = suites
      }
      guard let index = state.suites.firstIndex(where: { $0.name == name }) else { return false }
      for file in state.suites.remove(at: index).all { file.users[ObjectIdentifier(state)] = nil }
      return true
    }
    if !wasThere { return }
    for notice in engine.fill([state], .receiver, domain: nil, receiver: state) { notice.deliver() }
  }

  // MARK: Volatile domains

  /// `NSArgumentDomain`, `NSRegistrationDomain` and the languages' tags unless they were removed, and those of other names;
  /// sorted.
  public var volatileDomainNames: [String] {
    engine.lock.withLock {
      var names = Array(state.custom.keys)
      names += state.languages.tags.filter { state.replacedLanguages[$0] != .some(nil) }
      if state.argument != nil { names.append(VolatileDomainName.argument) }
      if state.registration != nil { names.append(VolatileDomainName.registration) }
      return names.sortedByBytes()
    }
  }

  /// nil where there is no such domain.
  public func volatileDomain(forName name: String) -> [String: PropertyListValue]? {
    engine.lock.withLock {
      switch name {
      case VolatileDomainName.argument: state.argument
      case VolatileDomainName.registration: state.registration
      default: state.languageDomain(name) ?? state.custom[name]
      }
    }
  }

  /// Makes a volatile domain. One with a name of its own is kept, but never searched; one that has the name of a removed
  /// domain (`NSArgumentDomain`, a language) takes its place.
  /// - Returns: false when there is a domain of that name, which stays as it is: remove it first.
  @discardableResult
  public func setVolatileDomain(_ values: [String: PropertyListValue], forName name: String) -> Bool {
    if volatileDomain(forName: name) != nil { return false }
    replaceVolatile(values, name)
    return true
  }

  public func removeVolatileDomain(forName name: String) { replaceVolatile(nil, name) }

  private func replaceVolatile(_ values: [String: PropertyListValue]?, _ name: String) {
    let old = volatileDomain(forName: name) ?? [:]
    let keys = Array(Set(old.keys).union(values.map { Array($0.keys) } ?? []))
    switch name {
    case VolatileDomainName.argument: changeVolatile(keys: keys) { $0.argument = values }
    case VolatileDomainName.registration: changeVolatile(keys: keys) { $0.registration = values }
    case _ where state.languages.tags.contains(name):
      changeVolatile(keys: keys) { $0.replacedLanguages.updateValue(values, forKey: name) }
    default: engine.lock.withLock { state.custom[name] = values }
    }
  }

  // MARK: Persistent domains

  /// The domains that have a file of this user, and `NSGlobalDomain`; sorted. Per-host files are not among them.
  public var persistentDomainNames: [String] {
    var names: Set<String> = [GlobalDomain.name]
    names.formUnion((try? PersistentDomain.names(in: configuration.locations)) ?? [])
    engine.lock.withLock {
      for file in state.files + Array(state.touched.values) where !file.contents.merged.isEmpty {
        names.insert(file.name)
      }
    }
    return names.sortedByBytes()
  }

  /// The contents of one domain's file of this user, without any other layer; nil where there is nothing in it.
  public func persistentDomain(forName name: String) -> [String: PropertyListValue]? {
    if DomainName.fault(in: name) != nil { return nil }
    let files = files(ofDomain: name).forAnyHost
    for notice in engine.refresh(files) { notice.deliver() }
    noteRedirectedRead(of: name)
    let values = engine.lock.withLock {
      files.reduce(into: [:]) { values, file in values.merge(file.contents.merged) { first, _ in first } }
    }
    return values.isEmpty ? nil : values
  }

  /// Replaces a domain's file whole: keys that are not in `values` go, whoever set them.
  /// - Returns: whether the domain changed; false for a name that can't be a domain's.
  @discardableResult
  public func setPersistentDomain(_ values: [String: PropertyListValue], forName name: String) -> Bool {
    if DomainName.fault(in: name) != nil { return false }
    let file = files(ofDomain: name).user
    var notices = engine.refresh(file)
    engine.lock.lock()
    engine.announce(in: file.users.values, receiver: state) { look in
      let contents = file.contents
      file.contents.pending = DomainChanges(replacesAll: true, values: values.mapValues { .some($0) })
      look()
      file.contents = contents
    }
    // In the store that goes with the file, a key that roams is set or removed like any other.
    let now = WallClock.unixMilliseconds()
    var refusals: [RoamingSource.Refusal] = []
    var roamed: [String] = []
    if let roaming = file.users.values.first(where: { $0.own.user === file && $0.roaming != nil })?.roaming {
      roamed = roaming.keys.filter { roaming.contents.values[$0] != values[$0] }
      refusals = roamed.compactMap { roaming.set(values[$0], forKey: $0, now: now) }
    }
    for list in file.users.values where list.own.user === file {
      for key in list.roamingKeys.union(file.roamed)
      where file.contents.value(forKey: key) != values[key] && list.needsMark(key) {
        file.unsent[key] = now
      }
    }
    let before = file.contents.merged
    let isChange = before != values || !roamed.isEmpty
    file.contents.pending = DomainChanges(replacesAll: true, values: values.mapValues { .some($0) })
    file.sink = configuration.sink
    state.touched[file.path] = file
    engine.writer.schedule(file)
    let changedKeys = DomainContents.changedKeys(from: before, to: values)
    let readKeys = changedKeys + roamed.filter { !changedKeys.contains($0) }
    let (changes, refill) = engine.publishChanges(of: file, keys: readKeys, source: .otherList, receiver: state)
    notices += changes
    // The receiver is told that the domain changed, even where nothing that it reads did.
    if isChange, !state.observers.isEmpty, refill.isEmpty, file.users[ObjectIdentifier(state)] == nil {
      if let notice = Notice(state, .receiver, domain: name, keys: [], always: true) { notices.append(notice) }
    }
    engine.lock.unlock()
    for refusal in refusals { report(refusal.fault) }
    for key in changedKeys { noteRedirectedWrite(of: key, inDomain: name, removing: values[key] == nil) }
    notices += engine.fill(refill, .otherList, domain: name, receiver: state)
    for notice in notices { notice.deliver() }
    return isChange
  }

  /// Empties a domain's file of this user; forced values stay.
  @discardableResult
  public func removePersistentDomain(forName name: String) -> Bool { setPersistentDomain([:], forName: name) }

  /// Of the domains that are searched, the very files that are searched.
  private func files(ofDomain name: String) -> DomainFiles {
    engine.lock.withLock {
      state.domains.first { $0.name == name } ?? engine.files(ofDomain: name, for: configuration)
    }
  }
}
