import ForcedDomain
import Foundation
import PreferencesCore
import PropertyList
import Synchronization
import Testing

@testable import ManagedPreferences

/// Nothing that an application, its user or its command line does changes what is forced.
@Suite struct ForcedKeyTests {
  /// Every member that writes something, tried on the forced key `k` = "forced".
  static let attempts: [(id: String, attempt: @Sendable (UserDefaults) -> Void)] = [
    ("set Any", { $0.set("mine" as Any?, forKey: "k") }),
    ("set nil", { $0.set(nil as Any?, forKey: "k") }),
    ("set Int", { $0.set(1, forKey: "k") }),
    ("set Float", { $0.set(Float(1), forKey: "k") }),
    ("set Double", { $0.set(1.0, forKey: "k") }),
    ("set Bool", { $0.set(true, forKey: "k") }),
    ("set URL", { $0.set(URL(string: "https://mine.example/"), forKey: "k") }),
    ("removeObject", { $0.removeObject(forKey: "k") }),
    ("register", { $0.register(defaults: ["k": "mine"]) }),
    ("addSuite", { $0.addSuite(named: "org.example.Mine") }),
    ("removeSuite", { $0.removeSuite(named: Sandbox.application) }),
    ("setVolatileDomain", { $0.setVolatileDomain(["k": "mine"], forName: "Mine") }),
    ("removeVolatileDomain", { $0.removeVolatileDomain(forName: UserDefaults.argumentDomain) }),
    ("removeVolatileDomain, forced", { $0.removeVolatileDomain(forName: "forced") }),
    ("setPersistentDomain", { $0.setPersistentDomain(["k": "mine"], forName: Sandbox.application) }),
    ("setPersistentDomain, global", { $0.setPersistentDomain(["k": "mine"], forName: UserDefaults.globalDomain) }),
    ("removePersistentDomain", { $0.removePersistentDomain(forName: Sandbox.application) }),
    ("synchronize", { $0.synchronize() }),
  ]

  @Test(arguments: attempts.indices) func noMemberChangesIt(_ index: Int) throws {
    let (id, attempt) = Self.attempts[index]
    let sandbox = try Sandbox()
    sandbox.defaults("org.example.Mine").set("mine", forKey: "k")
    try sandbox.install([.init("k", .string("forced"))])
    let defaults: UserDefaults = sandbox.defaults(arguments: ["-k", "mine"])
    attempt(defaults)
    #expect(defaults.string(forKey: "k") == "forced", "\(id)")
    #expect(defaults.objectIsForced(forKey: "k"), "\(id)")
    #expect(defaults.dictionaryRepresentation()["k"] as? String == "forced", "\(id)")
    #expect(sandbox.defaults().string(forKey: "k") == "forced", "\(id)")
  }

  @Test func argumentsCountForKeysThatAreFree() throws {
    let sandbox = try Sandbox()
    try sandbox.install([.init("k", .string("forced"))])
    let defaults = sandbox.defaults(arguments: ["-k", "mine", "-free", "{a=1;}", "--", "-late", "x"])
    #expect(defaults.string(forKey: "k") == "forced")
    #expect(defaults.dictionary(forKey: "free") as? [String: String] == ["a": "1"])
    #expect(!defaults.objectIsForced(forKey: "free"))
    #expect(defaults.object(forKey: "late") == nil)
  }

  @Test func theUsersValueIsBackAfterRelease() throws {
    let sandbox = try Sandbox()
    let defaults = sandbox.defaults(observes: true)
    defaults.set("before", forKey: "k")
    #expect(defaults.synchronize())
    try sandbox.install([.init("k", .string("forced"))])
    #expect(eventually { defaults.string(forKey: "k") == "forced" })
    defaults.set("meanwhile", forKey: "k")
    #expect(defaults.string(forKey: "k") == "forced")
    try sandbox.install([], generation: 2)
    #expect(eventually { defaults.string(forKey: "k") == "meanwhile" })
    #expect(!defaults.objectIsForced(forKey: "k"))
  }

  /// Forced means: the value that is returned is the forced layer's. Never one without the other.
  @Test func forcedExactlyWhenTheValueIsForced() throws {
    let sandbox = try Sandbox()
    var random = SplitMix(state: 20_261_130)
    let keys = (0..<200).map { "key \($0)" }
    var forced: [String: PropertyListValue] = [:]
    for key in keys where Bool.random(using: &random) {
      forced[key] = .integer(PropertyListInteger(Int.random(in: 0...3, using: &random)))
    }
    try sandbox.install(forced.map { Sandbox.Entry($0.key, $0.value) })
    let defaults = sandbox.defaults()
    for key in keys where Bool.random(using: &random) {
      defaults.set(Int.random(in: 0...3, using: &random), forKey: key)
    }
    for key in keys {
      #expect(defaults.objectIsForced(forKey: key) == (forced[key] != nil))
      if let value = forced[key] {
        #expect(try FoundationValues.propertyList(#require(defaults.object(forKey: key))) == value)
        #expect(defaults.forcedBy(key).count == 1)
      } else {
        #expect(defaults.forcedBy(key).isEmpty)
      }
    }
  }

  struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  // MARK: - What happens to the file under a running application

  static func hundred(_ value: Int) -> [Sandbox.Entry] {
    (0..<100).map { Sandbox.Entry("k\($0)", .integer(PropertyListInteger(value))) }
  }

  /// Replaced by a smaller file, cut off in place, deleted: the application neither dies nor mixes generations.
  @Test func survivesWhatHappensToTheFile() async throws {
    let sandbox = try Sandbox()
    try sandbox.install(Self.hundred(1))
    let defaults = sandbox.defaults(observes: true)
    nonisolated(unsafe) let reader = defaults
    let stop = Atomic(false)
    let strange = Atomic(0)
    let reads = Atomic(0)
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while !stop.load(ordering: .relaxed) {
        for index in 0..<100 where !(1...2).contains(reader.integer(forKey: "k\(index)")) {
          // The second generation has ten keys; the others are free then, and nobody set them.
          if index < 10 || reader.integer(forKey: "k\(index)") != 0 { strange.add(1, ordering: .relaxed) }
        }
        reads.add(1, ordering: .relaxed)
      }
      finished.signal()
    }
    try sandbox.install(Array(Self.hundred(2).prefix(10)), generation: 2)
    #expect(eventually { defaults.integer(forKey: "k0") == 2 && !defaults.objectIsForced(forKey: "k50") })

    let file = try FileHandle(forWritingTo: URL(filePath: sandbox.installation.forcedFile))
    try file.truncate(atOffset: 100)
    try file.close()
    try sandbox.replace(
      sandbox.installation.generationMarker,
      Data(contentsOf: URL(filePath: sandbox.installation.generationMarker)).map { $0 })
    #expect(eventually { !defaults.list.faults.isEmpty }, "the fault is noticed")
    #expect(defaults.integer(forKey: "k0") == 2)
    #expect(defaults.objectIsForced(forKey: "k0"))

    try FileManager.default.removeItem(atPath: sandbox.installation.forcedFile)
    try sandbox.replace(
      sandbox.installation.generationMarker,
      Data(contentsOf: URL(filePath: sandbox.installation.generationMarker)).map { $0 })
    let before = reads.load(ordering: .relaxed)
    #expect(eventually { reads.load(ordering: .relaxed) > before + 100 })
    #expect(defaults.integer(forKey: "k0") == 2)
    #expect(defaults.objectIsForced(forKey: "k0"))
    stop.store(true, ordering: .relaxed)
    while finished.wait(timeout: .now()) == .timedOut { await Task.yield() }
    #expect(strange.load(ordering: .relaxed) == 0)

    await expectLockedInAFreshProcess(sandbox)
  }

  /// A fresh process finds nothing readable on an installed host: it locks rather than opens up.
  private func expectLockedInAFreshProcess(_ sandbox: Sandbox) async {
    await #expect(processExitsWith: .success) { [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      let fresh = ManagedDefaults.standard
      fresh.register(defaults: ["k0": 5])
      #expect(fresh.integer(forKey: "k0") == 5)
      #expect(fresh.object(forKey: "k1") == nil)
      #expect(fresh.objectIsForced(forKey: "k0"))
      #expect(fresh.objectIsForced(forKey: "anything"))
      #expect(fresh.objectIsForced(forKey: "anything", inDomain: "org.example.Other"))
      #expect(fresh.forcedBy("k0").isEmpty)
    }
  }

  enum Forgery: String, CaseIterable { case wrongOwner, groupWritable, damaged, newerReader, link }

  /// A reload makes the checks of the first load: what must not be trusted is refused and the last good generation stays.
  @Test(arguments: Forgery.allCases) func reloadRefusesWhatTheFirstLoadRefuses(_ forgery: Forgery) async throws {
    if forgery == .wrongOwner, geteuid() != 0 {
      print("SKIPPED: only root can give a file away")
      return
    }
    let sandbox = try Sandbox()
    try sandbox.install(Self.hundred(1), generation: 7)
    let defaults = sandbox.defaults(observes: true)
    #expect(defaults.integer(forKey: "k0") == 1)

    let path = sandbox.installation.forcedFile
    var bytes = try Sandbox.forcedFile(Self.hundred(2), generation: 8)
    let sound = bytes
    if forgery == .damaged { bytes[bytes.count - 1] ^= 1 }
    if forgery == .newerReader { bytes[8] = 0xFF }
    // Made ready under another name: at no moment is there a file that may be trusted.
    var forged = path + ".forged"
    try sandbox.replace(forged, bytes, mode: forgery == .groupWritable ? 0o664 : 0o644)
    if forgery == .wrongOwner {
      try FileManager.default.setAttributes([.ownerAccountID: 1001], ofItemAtPath: forged)
    }
    if forgery == .link {
      try FileManager.default.createSymbolicLink(atPath: path + ".link", withDestinationPath: forged)
      forged = path + ".link"
    }
    try #require(rename(forged, path) == 0)
    try sandbox.mark(generation: 8, forcedFile: sound)
    #expect(eventually { !defaults.list.faults.isEmpty }, "the refusal is noticed")
    #expect(defaults.integer(forKey: "k0") == 1)
    #expect(defaults.objectIsForced(forKey: "k0"))
    #expect(defaults.forcedBy("k0").map(\.generation) == [7])

    // What a first load makes of the same file.
    await expectLockedInAFreshProcess(sandbox)
  }
}
