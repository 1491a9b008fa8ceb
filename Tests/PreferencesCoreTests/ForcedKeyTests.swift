import AuditEvents
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

@Suite struct ForcedKeyTests {
  typealias Line = Fixture.Line

  @Test func aSetIsStoredUnderneathAndComesBackAfterTheRelease() {
    let fixture = Fixture()
    fixture.install([Line(key: "AllowNetwork", value: false)])
    fixture.store(["AllowNetwork": true])
    let list = fixture.list()
    #expect(list.set("mine", forKey: "AllowNetwork"))
    #expect(list.value("AllowNetwork") == false)
    #expect(list.isForced("AllowNetwork"))
    #expect(list.synchronize())
    #expect(fixture.stored() == ["AllowNetwork": "mine"])
    #expect(list.value("AllowNetwork") == false)
    fixture.install([], generation: 2)
    #expect(list.synchronize())
    #expect(list.value("AllowNetwork") == "mine")
    #expect(!list.isForced("AllowNetwork"))
    #expect(list.generation == 2)
  }

  @Test func eachAttemptIsOneEvent() {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1), Line(domain: GlobalDomain.name, key: "g", value: 1)], generation: 7)
    let list = fixture.list()
    list.set(2, forKey: "k")
    list.removeValue(forKey: "k")
    list.set(2, forKey: "g")
    list.set(2, forKey: "free")
    let expected: [[String: PropertyListValue]] = [("k", "set"), ("k", "remove"), ("g", "set")].map {
      [
        "domain": .string(Fixture.domain), "key": .string($0.0), "operation": .string($0.1),
        "profiles": .array(["org.example.base"]), "generation": 7,
      ]
    }
    #expect(fixture.sink.taken(.forcedWrite) == expected)
  }

  /// Forced exactly where the value comes from the policy: not where an entry exists that does not take effect.
  @Test func forcedMeansThatTheValueIsThePolicys() {
    let fixture = Fixture()
    let never = Condition(users: UserSelector(include: [.people], exclude: [.people]))
    fixture.install([
      Line(key: "motion", value: true), Line(key: "idle", value: 60, condition: never),
      Line(key: "released", value: 1), Line(key: "released", value: nil, action: .release, priority: 5),
      Line(key: "advice", value: 1, section: .recommended),
    ])
    fixture.store(["motion": true, "idle": 300])
    let list = fixture.list()
    #expect(
      ["motion", "idle", "released", "advice", "none"].map { list.isForced($0) } == [true, false, false, false, false])
    #expect(list.value("idle") == 300)
    #expect(list.value("released") == nil)
    #expect(list.value("advice") == 1)
  }

  /// Random stores: whatever is set, a forced key keeps the policy's value, and value and forcedness agree.
  @Test func theInvariantHoldsOverRandomStores() {
    var random = SplitMix(state: 42)
    for _ in 0..<20 {
      let fixture = Fixture()
      let keys = (0..<12).map { "key\($0)" }
      let forced = keys.filter { _ in random.next() % 3 == 0 }
      fixture.install(forced.map { Line(key: $0, value: .string("policy \($0)")) })
      let list = fixture.list(
        arguments: keys.filter { _ in random.next() % 4 == 0 }.flatMap { ["-\($0)", "argument"] })
      for _ in 0..<60 {
        let key = keys[Int(random.next() % 12)]
        list.set(random.next() % 4 == 0 ? nil : .integer(PropertyListInteger(Int(random.next() % 9))), forKey: key)
        let resolution = list.resolution(of: key)
        #expect(list.isForced(key) == forced.contains(key))
        #expect(list.value(key) == resolution.value && list.isForced(key) == resolution.isForced)
        if forced.contains(key) { #expect(list.value(key) == .string("policy \(key)")) }
      }
    }
  }

  @Test func unionsNameAllWhoForce() {
    let fixture = Fixture()
    fixture.install(
      [
        Line(key: "apps", value: .array(["a"]), action: .union, priority: 2, profile: "org.example.exam"),
        Line(key: "apps", value: .array(["b", "a"]), action: .union, profile: "org.example.base"),
      ], generation: 3)
    let list = fixture.list()
    #expect(list.stringArray("apps") == ["a", "b"])
    #expect(list.forcedBy("apps").map(\.profile) == ["org.example.exam", "org.example.base"])
    #expect(list.forcedBy("apps").map(\.generation) == [3, 3])
  }

  /// A profile and its override may both have a part in a union: it is one profile, and forces until the last part ends.
  @Test func aProfileIsNamedOnce() {
    let fixture = Fixture()
    fixture.clock.now = 2500
    fixture.install([
      Line(
        key: "ending", value: .array(["a"]), action: .union, priority: 2, condition: Condition(notAfter: 2800)),
      Line(key: "ending", value: .array(["b"]), action: .union, condition: Condition(notAfter: 2900)),
      Line(key: "lasting", value: .array(["a"]), action: .union, priority: 2, condition: Condition(notAfter: 2800)),
      Line(key: "lasting", value: .array(["b"]), action: .union),
    ])
    let list = fixture.list()
    let profile = "org.example.base"
    let title = "Title of org.example.base"
    #expect(
      list.forcedBy("ending") == [ForcedBy(profile: profile, title: title, generation: 1, until: 2900)])
    #expect(list.forcedBy("lasting") == [ForcedBy(profile: profile, title: title, generation: 1)])
  }

  @Test func forcedInAnotherDomain() {
    let fixture = Fixture()
    fixture.install([
      Line(domain: "org.example.Browser", key: "a", value: 1), Line(domain: GlobalDomain.name, key: "g", value: 1),
    ])
    let list = fixture.list()
    #expect(list.isForced("a", inDomain: "org.example.Browser"))
    #expect(!list.isForced("a"))
    #expect(!list.isForced("a", inDomain: Fixture.domain))
    #expect(list.isForced("g", inDomain: "org.example.Browser"))
    #expect(list.isForced("g", inDomain: GlobalDomain.name))
    #expect(!list.isForced("b", inDomain: "org.example.Browser"))
  }

  /// Two users differ by the documented order; once a key is forced, they agree, with or without a home.
  @Test func usersAgreeOnAForcedKey() {
    let fixture = Fixture()
    fixture.install([Line(key: "InstallUpdates", value: true, section: .recommended)])
    fixture.store(["InstallUpdates": false])
    func lists() -> [SearchList] {
      [UserFacts(userID: 1000, groupIDs: [1000]), UserFacts(userID: 0, groupIDs: [0])].map { user in
        let home = user.userID == 0 ? "/nonexistent" : fixture.home
        return try! SearchList(
          configuration: SearchList.Configuration(
            domain: Fixture.domain, homeDirectory: home, configurationDirectory: home + "/.config",
            installation: fixture.installation, sink: fixture.sink, observes: false, userFacts: user))
      }
    }
    #expect(lists().map { $0.resolution(of: "InstallUpdates").winner } == [.application, .recommended])
    #expect(lists().map { $0.bool("InstallUpdates") } == [false, true])
    fixture.install([Line(key: "InstallUpdates", value: true)], generation: 2)
    #expect(lists().map { $0.bool("InstallUpdates") } == [true, true])
    #expect(lists().map { $0.isForced("InstallUpdates") } == [true, true])
  }

  /// Without an option that locks whole domains, keys that nobody manages are the user's, and can be listed.
  @Test func theUsersKeysInAManagedDomainCanBeListed() {
    let fixture = Fixture()
    fixture.install([Line(key: "repo", value: "X")])
    fixture.store(["packageURL": "Y", "repo": "mine"])
    let list = fixture.list()
    list.register(["packageURL": "Z"])
    #expect(list.string("packageURL") == "Y")
    #expect(!list.isForced("packageURL"))
    let own = list.persistentDomain(forName: Fixture.domain) ?? [:]
    #expect(own.keys.filter { !list.isForced($0) } == ["packageURL"])
  }

  @Test func conditionsLookAtTheUser() {
    let fixture = Fixture()
    fixture.install([Line(key: "k", value: 1, condition: Condition(users: UserSelector(include: [.people])))])
    #expect(fixture.list().isForced("k"))
    #expect(!fixture.list(user: UserFacts(userID: 0, groupIDs: [0])).isForced("k"))
  }

  @Test func stringsConvertAlikeWhereverTheyComeFrom() {
    let texts = [
      "YES", "1", "01", "0", "-1", "no", "tomato", " true", "", "off", "nil", "42  ", "1e3", "99999999999999999999",
    ]
    let fixture = Fixture()
    fixture.install(texts.indices.map { Line(key: "forced\($0)", value: .string(texts[$0])) })
    let list = fixture.list()
    for (index, text) in texts.enumerated() {
      list.set(.string(text), forKey: "user\(index)")
      let expected = PropertyListValue.string(text)
      for key in ["forced\(index)", "user\(index)"] {
        #expect(list.bool(key) == expected.boolValue, "\(key) \(text)")
        #expect(list.integer(key) == expected.integerValue, "\(key) \(text)")
        #expect(list.double(key) == expected.doubleValue, "\(key) \(text)")
        #expect(list.string(key) == text)
      }
    }
  }

  @Test(arguments: TableTests.values.indices) func gettersAgreeWithTheMatrix(index: Int) {
    let value = TableTests.values[index]
    let list = Fixture().list()
    list.set(value, forKey: "k")
    #expect(list.value("k") == value)
    #expect(list.bool("k") == value.boolValue)
    #expect(list.integer("k") == value.integerValue)
    #expect(list.double("k").bitPattern == value.doubleValue.bitPattern)
    #expect(list.float("k").bitPattern == value.floatValue.bitPattern)
    #expect(list.string("k") == value.stringValue)
    #expect(list.array("k") == value.arrayValue)
    #expect(list.stringArray("k") == value.stringArrayValue)
    #expect(list.dictionary("k") == value.dictionaryValue)
    #expect(list.data("k") == value.dataValue)
  }
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
