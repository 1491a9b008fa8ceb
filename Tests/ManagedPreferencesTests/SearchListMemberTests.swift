import ForcedDomain
import Foundation
import PreferencesCore
import PropertyList
import Testing

@testable import ManagedPreferences

/// The members that name layers and domains, and cases of the field that concern them.
@Suite struct SearchListMemberTests {
  let sandbox: Sandbox
  let defaults: UserDefaults

  init() throws {
    sandbox = try Sandbox()
    defaults = sandbox.defaults()
  }

  private func store(_ values: [String: Any], _ path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    try data.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
  }

  /// One key in the files of each layer that the user's own file goes before.
  @Test func theFilesOfEveryLayer() throws {
    let host = HostIdentifier.current()
    let any = sandbox.installation.anyUserDefaultsDirectory
    let config = sandbox.configuration
    let paths = [
      "\(config)/ByHost/org.example.Editor.\(host).plist", "\(config)/org.example.Editor.plist",
      "\(config)/ByHost/org.example.Suite.\(host).plist", "\(config)/org.example.Suite.plist",
      "\(config)/ByHost/.GlobalPreferences.\(host).plist", "\(config)/.GlobalPreferences.plist",
      "\(any)/ByHost/org.example.Editor.\(host).plist", "\(any)/org.example.Editor.plist",
      "\(any)/ByHost/org.example.Suite.\(host).plist", "\(any)/org.example.Suite.plist",
      "\(any)/ByHost/.GlobalPreferences.\(host).plist", "\(any)/.GlobalPreferences.plist",
    ]
    for path in paths { try store(["k": path], path) }
    let defaults: UserDefaults = sandbox.defaults()
    defaults.addSuite(named: "org.example.Suite")
    for path in paths {
      #expect(defaults.string(forKey: "k") == path)
      try FileManager.default.removeItem(atPath: path)
      #expect(defaults.synchronize())
    }
    #expect(defaults.object(forKey: "k") == nil)
  }

  @Test func aPerHostValueHidesWhatIsSet() throws {
    try store(["k": 1], "\(sandbox.configuration)/ByHost/org.example.Editor.\(HostIdentifier.current()).plist")
    let defaults: UserDefaults = sandbox.defaults()
    defaults.set(2, forKey: "k")
    #expect(defaults.integer(forKey: "k") == 1, "reading back tells")
    #expect(defaults.persistentDomain(forName: Sandbox.application)?["k"] as? Int == 2)
    #expect(defaults.dictionaryRepresentation()["k"] as? Int == 1)
  }

  @Test func removingADomainEmptiesItInEveryObject() throws {
    try sandbox.install([.init("forced", .integer(1), domain: "org.example.Suite")])
    let suite: UserDefaults = sandbox.defaults("org.example.Suite")
    suite.setPersistentDomain(["m": true, "forced": 2], forName: "org.example.Suite")
    #expect(suite.synchronize())
    defaults.set("stays", forKey: "k")
    defaults.addSuite(named: "org.example.Suite")
    #expect(defaults.bool(forKey: "m"))
    defaults.removePersistentDomain(forName: "org.example.Suite")
    for object in [defaults, suite, sandbox.defaults("org.example.Suite")] {
      #expect(!object.bool(forKey: "m"))
      #expect(object.object(forKey: "m") == nil)
      #expect(object.dictionaryRepresentation()["m"] == nil)
      #expect(object.integer(forKey: "forced") == 1)
    }
    #expect(defaults.string(forKey: "k") == "stays")
    #expect(defaults.synchronize())
    let stored = try PropertyListSerialization.propertyList(
      from: Data(contentsOf: URL(filePath: sandbox.configuration + "/org.example.Suite.plist")), format: nil)
    #expect((stored as? [String: Any])?.isEmpty == true)
  }

  /// A value of another type than a program expects is not converted, and stays forced.
  @Test func aForcedListThatIsAString() throws {
    try sandbox.install([.init("allowedApps", .string("[\"org.lab.edit\",\"org.lab.term\"]"))])
    let defaults: UserDefaults = sandbox.defaults()
    #expect(defaults.array(forKey: "allowedApps") == nil)
    #expect(defaults.stringArray(forKey: "allowedApps") == nil)
    #expect(defaults.string(forKey: "allowedApps") == "[\"org.lab.edit\",\"org.lab.term\"]")
    #expect(defaults.objectIsForced(forKey: "allowedApps"))
  }

  /// Forced is what the returned value comes from the policy with, not what a policy mentions.
  @Test func forcedIsWhatTakesEffect() throws {
    let now = Int64(Date().timeIntervalSince1970)
    try sandbox.install([
      .init("motion", .boolean(true)), .init("recommended", .integer(1), section: .recommended),
      .init("closed", .integer(1), window: now - 2000..<now - 1000),
    ])
    let defaults: UserDefaults = sandbox.defaults()
    for key in ["motion", "recommended", "closed"] { defaults.set(true, forKey: key) }
    #expect(defaults.objectIsForced(forKey: "motion"), "though equal to the user's value")
    #expect(!defaults.objectIsForced(forKey: "recommended"))
    #expect(!defaults.objectIsForced(forKey: "closed"))
    #expect(defaults.bool(forKey: "closed"))
  }

  /// A version that is a number in the policy, and one that is a string.
  @Test func numbersAndTheirTexts() throws {
    try sandbox.install([.init("minVersion", .real(1.1)), .init("channel", .string("1.10"))])
    let defaults: UserDefaults = sandbox.defaults()
    #expect(defaults.object(forKey: "minVersion") as? Double == 1.1)
    #expect(defaults.string(forKey: "minVersion") == "1.1")
    #expect(defaults.object(forKey: "channel") as? String == "1.10")
    #expect(defaults.string(forKey: "channel") == "1.10")
    #expect(defaults.double(forKey: "channel") == 1.1)
  }

  /// The numbers of the matrix that other libraries got wrong, stored and forced.
  @Test(arguments: [false, true]) func numbersThroughEveryGetter(forced: Bool) throws {
    let rows: [(PropertyListValue, Int, String)] = [
      (.boolean(true), 1, "1"), (.integer(7), 7, "7"), (.real(Double(Float(3.7))), 3, "3.7"), (.real(98.6), 98, "98.6"),
      (.string("250"), 250, "250"), (.real(-0.9), 0, "-0.9"), (.real(.nan), 0, "nan"), (.real(1e300), .max, "1e+300"),
      (.real(-1e300), .min, "-1e+300"),
    ]
    let list = sandbox.defaults()
    for (index, row) in rows.enumerated() where !forced { list.list.set(row.0, forKey: "k\(index)") }
    if forced { try sandbox.install(rows.enumerated().map { .init("k\($0)", $1.0) }) }
    let defaults: UserDefaults = forced ? sandbox.defaults() : list
    for (index, (_, integer, string)) in rows.enumerated() {
      #expect(defaults.integer(forKey: "k\(index)") == integer)
      #expect(defaults.string(forKey: "k\(index)") == string)
      #expect(defaults.bool(forKey: "k\(index)"), "NaN is not 0 either")
    }
  }

  /// After nil nothing is left, neither an empty string nor data.
  @Test func setToNil() throws {
    defaults.set("abc", forKey: "token")
    defaults.set(nil as String?, forKey: "token")
    #expect(defaults.string(forKey: "token") == nil && defaults.object(forKey: "token") == nil)
    #expect(defaults.synchronize())
    #expect(defaults.persistentDomain(forName: Sandbox.application)?["token"] == nil)
    try sandbox.install([.init("token", .string("forced"))])
    let defaults: UserDefaults = sandbox.defaults()
    defaults.set(nil as String?, forKey: "token")
    #expect(defaults.string(forKey: "token") == "forced")
  }

  @Test func theListOfAnAccount() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      #expect(ManagedDefaults(user: "no-such-account-here") == nil)
      let own = try #require(ManagedDefaults(user: NSUserName()))
      ManagedDefaults.standard.set(1, forKey: "k")
      #expect(own.integer(forKey: "k") == 1, "the account of this process has its own files")
      ManagedDefaults.standard.register(defaults: ["r": 2])
      #expect(own.integer(forKey: "r") == 2)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains(
        "ManagedDefaults: no defaults of the user \"no-such-account-here\": there is no such account, or its preferences "
          + "may not be read\n"))
  }

  @Test func refusedSuitesAreTold() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      ManagedDefaults.standard.addSuite(named: "org.example.Editor")
      ManagedDefaults.standard.addSuite(named: UserDefaults.globalDomain)
      ManagedDefaults.standard.addSuite(named: "a/b")
      #expect(ManagedDefaults(suiteName: "") == nil)
      let suite = try #require(ManagedDefaults(suiteName: "org.example.Suite"))
      suite.addSuite(named: "org.example.Suite")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for line in [
      "no suite \"org.example.Editor\": it is the application's own domain; use ManagedDefaults.standard",
      "no suite \"NSGlobalDomain\": every search list contains it already",
      "no suite \"a/b\": a domain's name can't contain '/': a/b",
      "no suite \"\": a domain's name can't be empty",
      "no suite \"org.example.Suite\": it is the receiver's own domain",
    ] {
      #expect(text.contains("ManagedDefaults: \(line)\n"))
    }
  }
}
