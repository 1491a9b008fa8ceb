import Foundation
import PropertyList
import Testing

@testable import ManagedPreferences

private final class SuitePrefs: Preferences {
  @Preference var shared = 1
  override class var userDefaults: ManagedDefaults { ManagedDefaults(suiteName: "org.example.Suite")! }
}

private class VersionedPrefs: Preferences {
  @Preference var interval = 60
  nonisolated(unsafe) static var version: String? = "1.0"
  nonisolated(unsafe) static var migrations: [String] = []
  override class var applicationVersion: String? { version }
  override func migrate(from version: String?, to newVersion: String) {
    Self.migrations.append("\(version ?? "new") -> \(newVersion), interval \(interval)")
    interval *= 2
  }
}

/// Preferences objects: which ones there are, over which defaults, and what they announce.
@Suite struct TypedObjectTests {
  let sandbox: Sandbox
  init() throws { sandbox = try Sandbox() }

  @Test func oneObjectAClass() async {
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      let objects = Gathered<ObjectIdentifier>()
      DispatchQueue.concurrentPerform(iterations: 32) { index in
        objects.append(
          index % 2 == 0 ? ObjectIdentifier(Prefs.sharedInstance) : ObjectIdentifier(SchoolPrefs.sharedInstance))
      }
      #expect(Set(objects.all).count == 2)
      let prefs: Prefs = Prefs.sharedInstance
      #expect(prefs.userDefaults === ManagedDefaults.standard)
      #expect(type(of: SchoolPrefs.sharedInstance) == SchoolPrefs.self)
      prefs.name = "alice"
      #expect(SchoolPrefs.sharedInstance.name == "alice" && ManagedDefaults.standard.string(forKey: "name") == "alice")
    }
  }

  @Test func anOwnSuite() async {
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      try withoutBackgroundWriting {
        SuitePrefs.sharedInstance.shared = 2
        #expect(FileManager.default.fileExists(atPath: folder + "/home/.config/org.example.Suite.plist"))
      }
      #expect(ManagedDefaults(suiteName: "org.example.Suite")?.integer(forKey: "shared") == 2)
      #expect(!FileManager.default.fileExists(atPath: folder + "/home/.config/org.example.Editor.plist"))
      #expect(ManagedDefaults.standard.integer(forKey: "shared") == 1, "defaults are registered for the process")
    }
  }

  /// Defaults of declarations join those that `register` gave the process's objects, and give way to them.
  @Test func registrationIsTheProcesss() async {
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      ManagedDefaults.standard.register(defaults: ["count": 8])
      #expect(Prefs.sharedInstance.count == 8)
      #expect(Prefs.sharedInstance.isOpen && ManagedDefaults().bool(forKey: "isOpen"))
      ManagedDefaults.standard.register(defaults: ["isOpen": false])
      #expect(!Prefs.sharedInstance.isOpen && Prefs.sharedInstance.$isOpen.isDefaultValue)
    }
  }

  /// Posted on each assignment, on the assigning thread, after the value is there; also where nothing changed.
  @Test func notifications() {
    let prefs = quiet(Prefs(userDefaults: sandbox.defaults()))
    let other = quiet(Prefs(userDefaults: sandbox.defaults("org.example.Other")))
    let told = Gathered<[String]>()
    nonisolated(unsafe) let observed = prefs
    let token = NotificationCenter.default.addObserver(
      forName: Preferences.didChangeNotification, object: prefs, queue: nil
    ) { notification in
      let keys = [Preferences.changedPropertyKey, Preferences.changedKeyKey]
      told.append(
        keys.map { notification.userInfo?[$0] as? String ?? "nil" } + ["\(notification.object as? Prefs === observed)"]
          + [observed.title])
    }
    defer { NotificationCenter.default.removeObserver(token) }
    prefs.title = "a"
    prefs.title = "a"
    prefs.$title.reset()
    other.title = "b"
    prefs.userDefaults.set("c", forKey: "KEY_TITLE")
    #expect(
      told.all == [
        ["title", "KEY_TITLE", "true", "a"], ["title", "KEY_TITLE", "true", "a"],
        ["title", "KEY_TITLE", "true", "untitled"],
      ])
  }

  /// An assignment is on the disk when it returns, unless that is switched off.
  @Test func automaticSynchronisation() throws {
    let prefs = Prefs(userDefaults: sandbox.defaults())
    #expect(prefs.shouldAutomaticallySynchronize)
    func onDisk() throws -> PropertyListValue? {
      let path = sandbox.configuration + "/\(Sandbox.application).plist"
      return try PropertyListCoding.decode([UInt8](Data(contentsOf: URL(filePath: path)))).dictionaryValue?["count"]
    }
    try withoutBackgroundWriting { () throws in
      for count in 1...5 {
        prefs.count = count
        #expect(try onDisk() == .integer(PropertyListInteger(count)))
      }
      prefs.shouldAutomaticallySynchronize = false
      prefs.count = 6
      prefs.count = 7
      #expect(try onDisk() == .integer(5), "not waited for")
    }
    #expect(prefs.synchronize())
    #expect(try onDisk() == .integer(7))
  }

  @Test func versionsAndMigration() throws {
    func launch(_ version: String?) -> VersionedPrefs {
      VersionedPrefs.version = version
      return VersionedPrefs(userDefaults: sandbox.defaults())
    }
    VersionedPrefs.migrations = []
    #expect(launch(nil).firstVersionInstalled == nil && VersionedPrefs.migrations.isEmpty)
    var prefs = launch("1.0")
    #expect(prefs.firstVersionInstalled == "1.0" && prefs.lastVersionInstalled == "1.0" && prefs.interval == 120)
    #expect(prefs.shouldAutomaticallySynchronize)
    prefs = launch("1.0")
    #expect(prefs.interval == 120)
    prefs = launch("2.0")
    #expect(prefs.firstVersionInstalled == "1.0" && prefs.lastVersionInstalled == "2.0" && prefs.interval == 240)
    #expect(VersionedPrefs.migrations == ["new -> 1.0, interval 60", "1.0 -> 2.0, interval 120"])
  }
}
