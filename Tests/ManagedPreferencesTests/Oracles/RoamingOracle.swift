import Foundation
import PreferencesCore
import PropertyList
import UbiquitousStore

@testable import ManagedPreferences

/// Defaults' tests of keys that are kept in iCloud: keys of `ManagedDefaults` that roam, and another process's store in the
/// place of the remote one. The time stamps that the original keeps beside the values are the store's own business here.
struct RoamingOracle: Oracle {
  static let file = "sindresorhus-Defaults"
  static func isOurs(_ id: String) -> Bool { id.hasPrefix("sd-ic-") }

  /// One application on one machine, and who else uses its store.
  private final class Machine {
    let sandbox = try! Sandbox()
    let remote: SyncedStore

    private static func configuration(_ sandbox: Sandbox) -> SearchList.Configuration {
      SearchList.Configuration(
        domain: Sandbox.application, homeDirectory: sandbox.home, configurationDirectory: sandbox.configuration,
        languages: [], installation: sandbox.installation)
    }

    init() {
      let configuration = Self.configuration(sandbox)
      let place = configuration.locations.roamingPlace(ofDomain: configuration.domain)
      let path = SQLiteBackEnd.path(ofApplication: place.domain, in: place.directory)
      remote = SyncedStore(application: place.domain, backEnd: SQLiteBackEnd(path: path))
    }

    func launch(_ keys: [String]) throws -> ManagedDefaults {
      var configuration = Self.configuration(sandbox)
      configuration.openRoamingLayer = RoamingStore.open
      let defaults = ManagedDefaults(list: try SearchList(configuration: configuration))
      defaults.declareRoaming(keys)
      return defaults
    }

    /// What others find after a machine has saved.
    func remoteValue(_ key: String, after defaults: ManagedDefaults) -> PropertyListValue? {
      defaults.synchronize()
      remote.synchronize()
      return remote.value(key)
    }

    func remoteSets(_ value: Int, _ key: String) throws {
      try remote.set(key, to: .integer(PropertyListInteger(value)))
      remote.synchronize()
    }
  }

  func observe(_ row: OracleRow) async throws -> Set<String>? {
    let machine = Machine()
    defer { machine.remote.close() }
    let defaults = try machine.launch(["name", "quality"])
    switch row.id {
    case "sd-ic-nodefault":
      defaults.register(defaults: ["name": "nobody", "quality": 0])
      defaults.synchronize()
      machine.remote.synchronize()
      return [machine.remote.dictionary().isEmpty ? "remote has nothing (defaults are not pushed)" : "pushed"]
    case "sd-ic-pull":
      try machine.remoteSets(8, "quality")
      return ["local reads \(eventually { defaults.integer(forKey: "quality") == 8 } ? 8 : 0)"]
    case "sd-ic-coalesce":
      for value in 1...7 { try machine.remoteSets(value, "quality") }
      _ = eventually { defaults.integer(forKey: "quality") == 7 }
      return ["local has the last (\(defaults.integer(forKey: "quality")))"]
    case "sd-ic-nil":
      defaults.set("Chris", forKey: "name")
      guard machine.remoteValue("name", after: defaults) == .string("Chris") else { return [] }
      defaults.set(nil as Any?, forKey: "name")
      return [machine.remoteValue("name", after: defaults) == nil ? "remote value gone" : "it stays"]
    case "sd-ic-removed-key":
      let next = try machine.launch(["name"])
      let isShared = Set(next.roamingKeys) == ["name"]
      next.set("Chris", forKey: "name")
      next.set(8, forKey: "quality")
      let name = machine.remoteValue("name", after: next)
      let quality = machine.remoteValue("quality", after: next)
      return [
        isShared && name == .string("Chris") ? "name pushed" : "name not pushed",
        quality == nil ? "quality not pushed" : "quality pushed",
      ]
    case "sd-ic-source-remote":
      try machine.remoteSets(10, "quality")
      defaults.synchronize()
      return [defaults.integer(forKey: "quality") == 10 ? "local = remote" : "they differ"]
    case "sd-ic-detached":
      let list = defaults.list
      await Task.detached {
        list.declareRoaming(["detached"])
        list.set(.string("Chris0"), forKey: "detached")
      }.value
      let first = machine.remoteValue("detached", after: defaults)
      defaults.set("Chris1", forKey: "detached")
      let second = machine.remoteValue("detached", after: defaults)
      return [
        first == .string("Chris0") && second == .string("Chris1")
          ? "remote has the values; later local writes still push" : "not pushed"
      ]
    default: return nil
    }
  }
}
