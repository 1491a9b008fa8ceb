import Foundation
import UbiquitousStore

@testable import ManagedPreferences

/// A temporary folder with a store's file in it, and processes' stores over it, which save when they are told to.
final class StoreFolder: Sendable {
  private let sandbox: Sandbox
  var dataDirectory: String { sandbox.folder.appending(path: "data").path }
  var path: String { SQLiteBackEnd.path(ofApplication: Sandbox.application, dataDirectory: dataDirectory) }

  init() throws { sandbox = try Sandbox() }

  /// The store of one process, always a new one.
  func store() -> UbiquitousKeyValueStore {
    UbiquitousKeyValueStore { [path, sandbox] in
      _ = sandbox
      var options = SyncedStore.Options()
      options.saveDelay = 3600
      return SyncedStore(application: Sandbox.application, backEnd: SQLiteBackEnd(path: path), options: options)
    }
  }

  /// The same, for who changes things elsewhere.
  func another() -> UbiquitousKeyValueStore { store() }
}
