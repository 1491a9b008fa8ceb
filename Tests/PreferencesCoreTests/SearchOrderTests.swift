import ForcedDomain
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

@Suite struct SearchOrderTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    /// The stores that have the key, by name.
    let stores: [String]
    let winner: Layer?
    var testDescription: String { id }
  }

  /// One of the language domains' keys, since every layer can have it.
  static let key = LanguageKey.currencySymbol.rawValue

  /// Every store that exists, from the first to the last; the first word is the layer's name.
  static let all = [
    "forced own", "forced suite 2", "forced suite 1", "forced global", "argument", "application-host", "application",
    "suite-host 2", "suite 2", "suite-host 1", "suite 1", "global-host", "global", "any-user own host", "any-user own",
    "any-user suite 2 host", "any-user suite 2", "any-user suite 1 host", "any-user suite 1", "any-user global host",
    "any-user global", "language xx-XX", "language en", "recommended own", "recommended suite 2",
    "recommended suite 1", "recommended global", "registration",
  ]

  static let rows: [Row] =
    all.indices.map { index in
      Row(id: "\(all[index]) and all behind it", stores: Array(all[index...]), winner: layer(all[index]))
    } + [Row(id: "nothing", stores: [], winner: nil)]

  static func layer(_ store: String) -> Layer {
    Layer(rawValue: String(store.prefix { $0 != " " }))!
  }

  /// What each store of a domain is called, and where it is.
  static let domains: [(name: String, domain: String, user: String, host: String)] = [
    ("own", Fixture.domain, "application", "application-host"),
    ("suite 1", "org.example.One", "suite 1", "suite-host 1"),
    ("suite 2", "org.example.Two", "suite 2", "suite-host 2"),
    ("global", GlobalDomain.name, "global", "global-host"),
  ]

  static func fixture(_ stores: [String]) -> (Fixture, SearchList) {
    let fixture = Fixture()
    let values = stores.map { ($0, [key: PropertyListValue.string($0)]) }
    let value = Dictionary(uniqueKeysWithValues: values)
    var lines: [Fixture.Line] = []
    for (name, domain, user, host) in domains {
      for section in [PolicySection.forced, .recommended] {
        let store = (section == .forced ? "forced " : "recommended ") + name
        if stores.contains(store) {
          lines.append(Fixture.Line(domain: domain, key: key, value: .string(store), section: section))
        }
      }
      fixture.store(value[user] ?? [:], domain)
      fixture.store(value[host] ?? [:], domain, host: .current)
      fixture.store(value["any-user \(name)"] ?? [:], domain, user: .any)
      fixture.store(value["any-user \(name) host"] ?? [:], domain, user: .any, host: .current)
    }
    fixture.install(lines)
    let list = fixture.list(
      arguments: stores.contains("argument") ? ["-\(key)", "argument"] : [], languages: ["xx_XX"])
    for tag in ["xx-XX", "en"] {
      list.removeVolatileDomain(forName: tag)
      if let value = value["language \(tag)"] { #expect(list.setVolatileDomain(value, forName: tag)) }
    }
    list.register(value["registration"] ?? [:])
    #expect(list.addSuite("org.example.One"))
    #expect(list.addSuite("org.example.Two"))
    return (fixture, list)
  }

  @Test(arguments: rows) func theFirstStoreThatHasTheKeyAnswers(row: Row) {
    let (_, list) = Self.fixture(row.stores)
    Self.expect(row.stores, winner: row.winner, in: list)
  }

  /// Also where the winner is not the neighbour of the next.
  @Test(arguments: 0..<40) func anyStoresTogether(round: Int) {
    var random = SystemRandomNumberGenerator()
    let stores = Self.all.filter { _ in random.next() % 4 == 0 }
    let (_, list) = Self.fixture(stores)
    Self.expect(stores, winner: stores.first.map(Self.layer), in: list)
  }

  private static func expect(_ stores: [String], winner: Layer?, in list: SearchList) {
    #expect(list.string(key) == stores.first)
    #expect(list.value(key) == stores.first.map { .string($0) })
    #expect(list.isForced(key) == (winner == .forced))
    let resolution = list.resolution(of: key)
    #expect(resolution.winner == winner)
    #expect(resolution.value == list.value(key))
    #expect(resolution.isForced == list.isForced(key))
    #expect(resolution.considered.filter { $0.value != nil }.map(\.value) == stores.map { .string($0) })
    #expect(list.dictionaryRepresentation() == stores.first.map { [key: .string($0)] } ?? [:])
  }

  @Test func evidenceNamesFilesAndProfiles() throws {
    let (fixture, list) = Self.fixture(Self.all)
    let resolution = list.resolution(of: Self.key)
    #expect(
      resolution.forcedBy == [ForcedBy(profile: "org.example.base", title: "Title of org.example.base", generation: 1)])
    // A contained application asks the user's `NSGlobalDomain` behind its own copy.
    let shared = fixture.userConfiguration
    let considered = resolution.considered.filter { !Fixture.isContained || $0.path?.hasPrefix(shared) != true }
    #expect(considered.map(\.layer).map(\.rawValue) == Self.all.map { Self.layer($0).rawValue })
    #expect(considered.count + (Fixture.isContained ? 2 : 0) == resolution.considered.count)
    let application = try #require(resolution.considered.first { $0.layer == .application })
    #expect(application.path == fixture.file())
    #expect(application.domain == Fixture.domain)
    let host = try #require(resolution.considered.last { $0.layer == .anyUser && $0.path?.contains("ByHost") == true })
    #expect(host.path == fixture.file(GlobalDomain.name, user: .any, host: .current))
    #expect(resolution.considered.filter { $0.layer == .language }.map(\.domain) == ["xx-XX", "en"])
    #expect(list.forcedBy("other") == [])
  }

  @Test func nothingAUserControlsOutranksAForcedKey() {
    let fixture = Fixture()
    fixture.install([Fixture.Line(key: "lockScreen", value: true)])
    fixture.store(["lockScreen": false, "free": 1])
    let list = fixture.list(arguments: ["-lockScreen", "NO", "-free", "2", "--", "-late", "3"])
    #expect(list.setVolatileDomain(["lockScreen": false], forName: "mine"))
    list.removeVolatileDomain(forName: VolatileDomainName.argument)
    #expect(list.setVolatileDomain(["lockScreen": false, "free": "2"], forName: VolatileDomainName.argument))
    list.set(false, forKey: "lockScreen")
    list.register(["lockScreen": false])
    #expect(list.bool("lockScreen"))
    #expect(list.isForced("lockScreen"))
    #expect(list.integer("free") == 2, "a free key obeys the command line")
    #expect(list.value("late") == nil, "nothing is read behind --")
  }

  @Test(arguments: ["suite", "suite-host", "any-user suite", "forced suite", "recommended suite"])
  func suitesMoveToTheFrontAndLeaveInAllTheirLayers(kind: String) {
    let isAnyUser = kind.hasPrefix("any-user")
    let (first, second) = ("\(kind) 1", "\(kind) 2")
    let (fixture, list) = Self.fixture(isAnyUser ? [first, second, first + " host"] : [first, second])
    #expect(list.string(Self.key) == second)
    #expect(list.addSuite("org.example.One"))
    #expect(list.string(Self.key) == (isAnyUser ? first + " host" : first))
    list.removeSuite("org.example.One")
    #expect(list.string(Self.key) == second)
    list.removeSuite("org.example.Two")
    #expect(list.string(Self.key) == nil)
    #expect(fixture.list().string(Self.key) == nil, "suites concern their own list alone")
  }

  @Test(arguments: [Fixture.domain, GlobalDomain.name, "", "a/b", ".hidden", String(repeating: "x", count: 217)])
  func refusesAsASuite(name: String) {
    #expect(!Fixture().list().addSuite(name))
  }

  @Test func aSuiteTakesTheApplicationsPlace() {
    let fixture = Fixture()
    fixture.install([
      Fixture.Line(domain: "group.lab", key: "a", value: "suite"), Fixture.Line(key: "b", value: "application"),
    ])
    fixture.store(["c": "suite"], "group.lab")
    fixture.store(["d": "application"])
    let list = fixture.list("group.lab", application: Fixture.domain)
    #expect(list.dictionaryRepresentation() == ["a": "suite", "c": "suite"])
    #expect(!list.addSuite(Fixture.domain))
    list.set(1, forKey: "e")
    #expect(list.synchronize())
    #expect(fixture.stored("group.lab") == ["c": "suite", "e": 1])
  }

  @Test func theGlobalDomainHasAListOfItsOwn() {
    let fixture = Fixture()
    fixture.install([Fixture.Line(domain: GlobalDomain.name, key: "a", value: 1)])
    fixture.store(["b": 2], GlobalDomain.name)
    let list = fixture.list(GlobalDomain.name)
    #expect(list.dictionaryRepresentation() == ["a": 1, "b": 2])
    #expect(list.resolution(of: "b").winner == .global)
    list.set(3, forKey: "b")
    #expect(list.synchronize())
    #expect(fixture.stored(GlobalDomain.name) == ["b": 3])
    #expect(fixture.file(GlobalDomain.name) == fixture.configuration + "/.GlobalPreferences.plist")
  }

  @Test func registeredDefaultsMergeAndStayInMemory() {
    let fixture = Fixture()
    let list = fixture.list()
    list.register(["a": 1, "b": 1])
    list.register(["b": 2, "c": 3])
    #expect(list.dictionaryRepresentation() == ["a": 1, "b": 2, "c": 3])
    list.removeValue(forKey: "a")
    #expect(list.integer("a") == 1)
    let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("k\($0)", PropertyListValue.string("v")) })
    list.register(many)
    #expect(list.string("k99") == "v")
    #expect(list.synchronize())
    #expect(fixture.stored() == nil)
  }

  @Test func volatileDomains() {
    let list = Fixture().list(arguments: ["-a", "1"])
    #expect(list.volatileDomainNames == ["NSArgumentDomain", "NSRegistrationDomain"])
    #expect(list.volatileDomain(forName: "NSArgumentDomain") == ["a": "1"])
    #expect(list.setVolatileDomain(["x": 1], forName: "mine"))
    #expect(!list.setVolatileDomain(["x": 2], forName: "mine"))
    #expect(list.volatileDomain(forName: "mine") == ["x": 1])
    #expect(list.value("x") == nil, "only the known ones are searched")
    list.removeVolatileDomain(forName: "NSArgumentDomain")
    list.removeVolatileDomain(forName: "NSRegistrationDomain")
    #expect(list.volatileDomainNames == ["mine"])
    #expect(list.value("a") == nil)
    list.register(["r": 1])
    #expect(list.integer("r") == 1)
  }
}
