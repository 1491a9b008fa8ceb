import Foundation
import PropertyList
import Testing

@testable import ManagedPreferences

/// A program that knows nothing of containers, in a process of its own, on a host whose policy contains it.
@Suite struct ContainedDefaultsTests {
  static let foreign = "org.example.Other"

  /// Everything below a home but its containers, with the bytes of files.
  private static func outside(_ home: String) -> [String: Data] {
    var found: [String: Data] = [:]
    for case let path as String in FileManager.default.enumerator(atPath: home) ?? .init() {
      if path.hasPrefix(".local") { continue }
      found[path] = FileManager.default.contents(atPath: home + "/" + path) ?? Data()
    }
    return found
  }

  /// Every way that a program has to another domain ends in its own container, and none is an error.
  @Test func everyWayIsRedirected() async throws {
    let sandbox = try Sandbox()
    try sandbox.install(
      [
        .init("locked", .integer(7), domain: Self.foreign), .init("mine", .integer(1)),
        .init("everywhere", .string("forced"), domain: UserDefaults.globalDomain),
      ], containing: [Sandbox.application])
    for domain in [Self.foreign, ".GlobalPreferences"] {
      let file = URL(filePath: sandbox.configuration).appending(path: domain + ".plist")
      try PropertyListSerialization.data(fromPropertyList: ["theirs": "outside"], format: .xml, options: 0).write(
        to: file)
    }
    let before = Self.outside(sandbox.home)
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      unsetenv("XDG_DATA_HOME")
      let defaults = ManagedDefaults.standard
      #expect(defaults.string(forKey: "theirs") == "outside", "the user's global domain is there to read")
      defaults.set("a", forKey: "own")
      let other = try #require(ManagedDefaults(suiteName: Self.foreign))
      #expect(other.string(forKey: "theirs") == "outside", "from the global domain: its own file is empty")
      #expect(other.persistentDomain(forName: Self.foreign) == nil)
      #expect(other.integer(forKey: "locked") == 7 && other.objectIsForced(forKey: "locked"))
      other.set("b", forKey: "written")
      other.removeObject(forKey: "theirs")
      defaults.addSuite(named: Self.foreign)
      #expect(defaults.string(forKey: "written") == "b")
      defaults.setPersistentDomain(["c": 1], forName: "org.example.Third")
      defaults.removePersistentDomain(forName: "org.example.Fourth")
      defaults.setPersistentDomain(["d": 1], forName: UserDefaults.globalDomain)
      #expect(defaults.integer(forKey: "d") == 1)
      #expect(defaults.persistentDomainNames.contains("org.example.Third"))
      #expect(defaults.string(forKey: "everywhere") == "forced")
      #expect(defaults.objectIsForced(forKey: "mine"))
      defaults.register(defaults: ["e": 1])
      let user = try #require(ManagedDefaults(user: NSUserName()))
      user.set("f", forKey: "byUser")
      #expect(defaults.string(forKey: "byUser") == "f", "the account of this process is itself")
      #expect(defaults.synchronize() && other.synchronize() && user.synchronize())
    }
    #expect(Self.outside(sandbox.home) == before)
    let container = sandbox.home + "/.local/share/managed-preferences/containers/\(Sandbox.application)/home/.config/"
    let names = try FileManager.default.contentsOfDirectory(atPath: container).filter { $0.hasSuffix(".plist") }
      .sorted()
    #expect(
      names == [
        ".GlobalPreferences.plist", "\(Sandbox.application).plist", "\(Self.foreign).plist", "org.example.Third.plist",
      ])
    let stored = try PropertyListSerialization.propertyList(
      from: Data(contentsOf: URL(filePath: container + "\(Self.foreign).plist")), format: nil)
    #expect(stored as? [String: String] == ["written": "b"])
  }

  /// Another account's preferences are foreign as well: what is written for it is in the container.
  @Test(.enabled(if: geteuid() == 0, "needs root, which may read another account's files"))
  func anotherAccountIsForeign() async throws {
    let sandbox = try Sandbox()
    try sandbox.install([], containing: [Sandbox.application])
    let before = Self.outside(sandbox.home)
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      unsetenv("XDG_DATA_HOME")
      let others = try #require(ManagedDefaults(user: "daemon"))
      others.set("x", forKey: "k")
      #expect(others.synchronize())
      #expect(ManagedDefaults.standard.string(forKey: "k") == nil)
    }
    #expect(Self.outside(sandbox.home) == before)
    let place =
      "/.local/share/managed-preferences/containers/\(Sandbox.application)/home/.config/managed-preferences/users"
    #expect(FileManager.default.fileExists(atPath: sandbox.home + place + "/daemon/\(Sandbox.application).plist"))
  }
}
