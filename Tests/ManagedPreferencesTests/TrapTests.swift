import Foundation
import Testing

@testable import ManagedPreferences

/// Mistakes of a program stop it with a message that names the key.
@Suite struct TrapTests {
  private func message(of result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func valueThatIsNoPropertyList() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Sandbox().defaults().set(["list": [UUID()]], forKey: "Window frames")
    }
    #expect(
      message(of: result).contains(
        "ManagedDefaults: set(_:forKey:): the value for the key \"Window frames\" can't be stored: at [\"list\"][0]: UUID is "
          + "no property list (string, number, boolean, date, data, array, dictionary)"))
  }

  private static func nested(_ levels: Int) -> Any { (1..<levels).reduce([] as [Any]) { inner, _ in [inner] } }

  @Test func valueWithMoreLevelsThanAFileTakes() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Sandbox().defaults().set(Self.nested(512), forKey: "Window frames")
    }
    #expect(
      message(of: result).contains("the value for the key \"Window frames\" can't be stored: "),
      "\(message(of: result))")
    #expect(message(of: result).contains("arrays and dictionaries nest deeper than 511 levels"))
    let defaults = try Sandbox().defaults()
    defaults.set(Self.nested(511), forKey: "Window frames")
    #expect(defaults.synchronize())
  }

  @Test func registeredValueThatIsNoPropertyList() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Sandbox().defaults().register(defaults: ["Window frames": NSNull()])
    }
    #expect(
      message(of: result).contains(
        "register(defaults:): the value for the key \"Window frames\" can't be stored: NSNull is no property list"))
  }

  @Test func domainThatIsNoPropertyList() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Sandbox().defaults().setPersistentDomain(["Window frames": NSNull()], forName: "org.example.Other")
    }
    #expect(
      message(of: result).contains(
        "setPersistentDomain(_:forName:): the domain org.example.Other can't be stored: at [\"Window frames\"]: NSNull")
    )
  }

  @Test func emptyKeyInSet() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Sandbox().defaults().set(1, forKey: "")
    }
    #expect(message(of: result).contains("ManagedDefaults: set(_:forKey:): the key \"\" is empty"))
  }

  @Test func emptyKeyInRegister() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Sandbox().defaults().register(defaults: ["": 1])
    }
    #expect(message(of: result).contains("ManagedDefaults: register(defaults:): the key \"\" is empty"))
  }

  @Test func volatileDomainThatExists() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let defaults = try Sandbox().defaults()
      defaults.setVolatileDomain(["a": 1], forName: "Mine")
      defaults.setVolatileDomain(["a": 2], forName: "Mine")
    }
    #expect(message(of: result).contains("setVolatileDomain(_:forName:): a volatile domain \"Mine\" exists"))
  }

  @Test(arguments: [UserDefaults.argumentDomain, UserDefaults.registrationDomain])
  func layersCannotBeReplaced(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name = name as String] in
      try Sandbox().defaults().setVolatileDomain(["a": 1], forName: name)
    }
    #expect(message(of: result).contains("a volatile domain \"\(name)\" exists"))
  }

  @Test func applicationIdentifierAfterUse() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ManagedDefaults.applicationIdentifier = "org.example.Editor"
      _ = ManagedDefaults.standard.object(forKey: "k")
      ManagedDefaults.applicationIdentifier = "org.example.Other"
    }
    #expect(
      message(of: result).contains(
        "ManagedDefaults: applicationIdentifier: \"org.example.Other\" comes too late: values were read as "
          + "\"org.example.Editor\" already; set it before the first use of ManagedDefaults"))
  }

  @Test(arguments: ["", "a/b", ".hidden", "a\0b", String(repeating: "x", count: 217)])
  func applicationIdentifierThatIsNoDomainName(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name = name as String] in
      ManagedDefaults.applicationIdentifier = name
    }
    #expect(message(of: result).contains("ManagedDefaults: applicationIdentifier: a domain's name can't "))
  }
}
