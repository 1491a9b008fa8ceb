public import PropertyList

/// What typed declarations of keys need to know and say, beyond reading and setting.
extension SearchList {
  /// Whether there is a value where `set` puts one, in the list's own domain or, for a key that roams, in the synced store;
  /// whatever is read for it: an equal default or a forced value makes no difference.
  public func isStored(_ key: String) -> Bool {
    engine.lock.withLock {
      state.own.user.contents.value(forKey: key) != nil || state.roaming(ofKey: key)?.contents.values[key] != nil
    }
  }

  /// What is registered for a key, whatever other layers have.
  public func registeredValue(_ key: String) -> PropertyListValue? {
    engine.lock.withLock { state.registration?[key] }
  }

  /// Registers defaults for those keys that have none registered.
  public func registerMissing(_ defaults: [String: PropertyListValue]) {
    changeVolatile(keys: Array(defaults.keys)) { state in
      state.registration = (state.registration ?? [:]).merging(defaults) { earlier, _ in earlier }
    }
  }
}
