import Foundation
import TestPrograms
import Testing

@testable import FoundationPeer
@testable import ManagedPreferences

/// The same files under Foundation's own `UserDefaults` (in a process of its own) and under ours.
@Suite struct FoundationExchangeTests {
  let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func peer(_ verb: String) throws -> [String: [String: String]] { try Self.peer(verb, sandbox) }

  /// What Foundation's getters answer over the files of the sandbox.
  static func peer(_ verb: String, _ sandbox: Sandbox) throws -> [String: [String: String]] {
    let program = sandbox.folder.appending(path: FoundationPeer.domain)
    if !FileManager.default.fileExists(atPath: program.path) {
      try FileManager.default.linkItem(at: MapViewerTests.built("FoundationPeer"), to: program)
    }
    let peer = try StartedProgram(
      [program.path, verb], environment: ["HOME": sandbox.home, "XDG_CONFIG_HOME": sandbox.configuration], output: .read
    )
    let answers = peer.all()
    try #require(peer.wait() == 0)
    return try JSONDecoder().decode([String: [String: String]].self, from: Data(answers.utf8))
  }

  /// Both answer the same for every key and getter, but for the getters named.
  private func compare(_ theirs: [String: [String: String]], _ defaults: UserDefaults, except known: Set<String> = []) {
    for (key, answers) in theirs {
      let ours = FoundationPeer.answers(defaults, key)
      for (getter, answer) in answers where !known.contains("\(key) \(getter)") {
        #expect(ours[getter] == answer, "\(key) \(getter)")
      }
    }
  }

  @Test func readsWhatFoundationStored() throws {
    let theirs = try peer("store")
    #expect(theirs.count == FoundationPeer.objects.count + 2)
    let defaults = sandbox.defaults()
    for (key, object) in FoundationPeer.objects {
      let stored = try FoundationValues.propertyList(#require(defaults.object(forKey: key), "\(key)"))
      #expect(stored == (try FoundationValues.propertyList(object)), "\(key)")
    }
    compare(theirs, defaults)
  }

  @Test func foundationReadsWhatWeStored() throws {
    let defaults = sandbox.defaults()
    for (key, object) in FoundationPeer.objects { defaults.set(object, forKey: key) }
    defaults.set(URL(fileURLWithPath: "/hello/world"), forKey: "file url")
    defaults.set(URL(string: "https://exam.example.org/a?b"), forKey: "web url")
    #expect(defaults.synchronize())
    // A stored `Float(3.7)` is "3.7" here, and 3.700000047683716 in corelibs.
    compare(try peer("read"), defaults, except: ["float string"])
  }

  /// The domain and the suites that Foundation wrote, through our search list: the newest suite first.
  @Test func findsWhatFoundationStoredInSuites() throws {
    let theirs = try peer("store-layers")
    compareLayers(theirs, of: [FoundationPeer.domain] + FoundationPeer.suites)
    #expect(theirs["first second"]?["string"] == "second" && theirs["app first"]?["string"] == "app")
  }

  @Test func foundationFindsWhatWeStoredInSuitesAndTheGlobalDomain() throws {
    let defaults = sandbox.defaults()
    for (name, values) in FoundationPeer.layers { defaults.setPersistentDomain(values, forName: name) }
    #expect(defaults.synchronize())
    let theirs = try peer("read-layers")
    compareLayers(theirs, of: Array(FoundationPeer.layers.keys))
    #expect(theirs["global"]?["string"] == "global" && theirs["first global"]?["string"] == "first")
  }

  private func compareLayers(_ theirs: [String: [String: String]], of names: [String]) {
    let defaults = sandbox.defaults()
    for suite in FoundationPeer.suites { defaults.addSuite(named: suite) }
    #expect(theirs.count == 11)
    compare(theirs, defaults)
    for name in names {
      let values = FoundationPeer.layers[name] as? [String: String]
      #expect(defaults.persistentDomain(forName: name) as? [String: String] == values, "\(name)")
    }
  }

  /// Our class calls Foundation's initializer, which must not look into, or write, files that nobody asked for.
  @Test func foundationsInitializerTouchesNoFile() async throws {
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      let defaults = ManagedDefaults.standard
      defaults.set(1, forKey: "k")
      #expect(defaults.synchronize())
      let files = try FileManager.default.contentsOfDirectory(atPath: folder + "/home/.config")
      #expect(files.filter { $0.hasSuffix(".plist") } == ["org.example.Editor.plist"])
    }
  }
}
