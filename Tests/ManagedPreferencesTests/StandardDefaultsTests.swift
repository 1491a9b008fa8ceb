import Foundation
import PropertyList
import Testing

@testable import ManagedPreferences

/// The standard object, in a process of its own for each test, since it is one per process.
@Suite struct StandardDefaultsTests {
  /// Points this (child) process at a sandbox, before anything of it is used.
  static func enter(_ folder: String) {
    setenv("HOME", folder + "/home", 1)
    setenv("XDG_CONFIG_HOME", folder + "/home/.config", 1)
    setenv("MANAGED_PREFERENCES_ROOT", folder + "/root", 1)
    ManagedDefaults.applicationIdentifier = "org.example.Editor"
  }

  @Test func sameObject() async throws {
    let sandbox = try Sandbox()
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      Self.enter(folder)
      #expect(ManagedDefaults.standard === ManagedDefaults.standard)
      let asSuperclass: UserDefaults.Type = ManagedDefaults.self
      #expect(asSuperclass.standard === ManagedDefaults.standard)
      ManagedDefaults.standard.set("suite", forKey: "k")
      #expect(ManagedDefaults().string(forKey: "k") == "suite")
      #expect(ManagedDefaults(suiteName: nil)?.string(forKey: "k") == "suite")
      #expect(ManagedDefaults.applicationIdentifier == "org.example.Editor")
    }
  }

  @Test func resetWritesAndMakesAnew() async throws {
    let sandbox = try Sandbox()
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      Self.enter(folder)
      ManagedDefaults(suiteName: "org.example.Suite")?.set("suite", forKey: "fromSuite")
      let old = ManagedDefaults.standard
      old.addSuite(named: "org.example.Suite")
      #expect(old.string(forKey: "fromSuite") == "suite")
      old.set("x", forKey: "k")
      ManagedDefaults.resetStandardUserDefaults()
      #expect(FileManager.default.fileExists(atPath: folder + "/home/.config/org.example.Editor.plist"))
      #expect(ManagedDefaults.standard !== old)
      #expect(ManagedDefaults.standard.string(forKey: "k") == "x")
      #expect(ManagedDefaults.standard.string(forKey: "fromSuite") == nil)
      old.set("y", forKey: "k")
      #expect(ManagedDefaults.standard.string(forKey: "k") == "y")
    }
  }

  @Test func registeredDefaultsAreShared() async throws {
    let sandbox = try Sandbox()
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      Self.enter(folder)
      let early = try #require(ManagedDefaults(suiteName: "org.example.Suite"))
      ManagedDefaults.standard.register(defaults: ["a": 1, "b": 1])
      early.register(defaults: ["b": 2])
      let late = ManagedDefaults()
      for defaults in [early, late, .standard] {
        #expect(defaults.integer(forKey: "a") == 1)
        #expect(defaults.integer(forKey: "b") == 2)
      }
      ManagedDefaults.resetStandardUserDefaults()
      #expect(ManagedDefaults.standard.integer(forKey: "b") == 2)
    }
  }

  @Test func valuesReachTheDiskAtExit() async throws {
    let sandbox = try Sandbox()
    await #expect(processExitsWith: .exitCode(0)) { [folder = sandbox.folder.path as String] in
      Self.enter(folder)
      ManagedDefaults.standard.set("last words", forKey: "k")
      exit(0)
    }
    #expect(sandbox.defaults().string(forKey: "k") == "last words")
  }

  @Test func suites() async throws {
    let sandbox = try Sandbox()
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [folder = sandbox.folder.path as String] in
      Self.enter(folder)
      #expect(ManagedDefaults(suiteName: "org.example.Suite") != nil)
      #expect(ManagedDefaults(suiteName: "org.example.Editor") == nil)
      #expect(ManagedDefaults(suiteName: UserDefaults.globalDomain) == nil)
      #expect(ManagedDefaults(suiteName: "../evil") == nil)
      ManagedDefaults(suiteName: "org.example.Suite")?.set(1, forKey: "k")
      #expect(ManagedDefaults(suiteName: "org.example.Suite")?.integer(forKey: "k") == 1)
      #expect(ManagedDefaults.standard.object(forKey: "k") == nil)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("ManagedDefaults: no suite \"org.example.Editor\": it is the application's own domain"))
    #expect(text.contains("ManagedDefaults: no suite \"NSGlobalDomain\": every search list contains it already"))
    #expect(text.contains("ManagedDefaults: no suite \"../evil\": "))
  }

  @Test func theEnvironmentChangesNoForcedValue() async throws {
    let sandbox = try Sandbox()
    try sandbox.install([.init("k", .string("forced"))])
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      setenv("k", "mine", 1)
      Self.enter(folder)
      setenv("HOME", "/nonexistent", 1)
      setenv("POLICY_STORE", "/tmp/mine.store", 1)
      #expect(ManagedDefaults.standard.string(forKey: "k") == "forced")
      #expect(ManagedDefaults.standard.objectIsForced(forKey: "k"))
      // After the first use another root has no effect either.
      setenv("MANAGED_PREFERENCES_ROOT", "/nonexistent", 1)
      #expect(ManagedDefaults.standard.string(forKey: "k") == "forced")
    }
  }
}
