internal import PreferencesCore

/// Keys whose values follow the user from machine to machine.
extension ManagedDefaults {
  /// Lets keys roam: their values are kept in the application's `UbiquitousKeyValueStore`, asked before any file, and written
  /// through to both.
  ///
  /// As if a policy named them under `roaming:`; what forces a key comes first all the same. A key begins to roam with its
  /// next set: what the application's file held before is not uploaded. The values reach other machines where the store is
  /// relayed (`UbiquitousKeyValueStore.relay(to:)`).
  /// - Complexity: O(keys of all layers), and reads the store's file the first time.
  public func declareRoaming(_ keys: [String]) {
    for key in keys { Misuse.refuse(emptyKey: key, by: "declareRoaming(_:)") }
    list.declareRoaming(keys)
  }

  /// The keys that roam now, by declaration and by policy; sorted.
  public var roamingKeys: [String] { list.roamingKeys }
}
