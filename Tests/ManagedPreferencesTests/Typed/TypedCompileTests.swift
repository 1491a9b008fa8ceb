import Foundation
import Testing

/// What the compiler says to declarations, as an application's developer sees it: `swiftc` against the built module.
@Suite(.enabled(if: CompilerOfTests.isThere, "swiftc or the built modules not found")) struct TypedCompileTests {
  /// Type-checks files as one module.
  /// - Returns: the exit status, and of each file the messages of its errors, sorted, each once.
  static func check(_ files: [String: String]) throws -> (status: Int32, errors: [String: [String]]) {
    let compiler = try #require(OpenMembersTests.executable("swiftc"))
    let modules = try #require(OpenMembersTests.builtModules())
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var paths: [String] = []
    for (name, text) in files.sorted(by: { $0.key < $1.key }) {
      let file = folder.appending(path: name + ".swift")
      try Data(("import Foundation\nimport ManagedPreferences\nimport Observation\n" + text).utf8).write(to: file)
      paths.append(file.path)
    }
    let run = try MapViewerTests.run(
      compiler,
      [
        "-typecheck", "-continue-building-after-errors", "-swift-version", "6", "-warnings-as-errors",
        "-parse-as-library", "-module-name", "Application",
      ]
        + ([modules] + OpenMembersTests.moduleMaps(besides: modules)).flatMap { ["-I", $0.path] } + paths,
      environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder.path])
    var errors: [String: Set<String>] = [:]
    for match in run.errors.matches(of: /\/([A-Za-z]+)\.swift:\d+:\d+: error: (.*)/) {
      errors[String(match.1), default: []].insert(String(match.2))
    }
    if errors.isEmpty && run.status != 0 { errors["compiler"] = [run.errors] }
    return (run.status, errors.mapValues { $0.sorted() })
  }

  @Test func whatIsNoPreferenceDoesNotCompile() throws {
    let unsupported =
      "is unavailable: a preference is a String, Bool, number, Date, Data, URL, an array or dictionary of them, "
      + "RawRepresentable, Codable, or an object with NSSecureCoding"
    let (status, errors) = try Self.check([
      "Connection": "final class Connection {}",
      "Value": "final class A: Preferences { @Preference var link = Connection() }",
      "Elements": "final class B: Preferences { @Preference var links: [Connection] = [] }",
      "Optional": "final class F: Preferences { @Preference var link: Connection? }",
      "Structure": "struct C { @Preference var count = 1 }",
      "Bogus": "final class D: Preferences {}\nfunc bogus() { D.sharedInstance.bogus = 1 }",
      "Declared":
        "final class E: Preferences { @Preference var name: String? }\nfunc set() { E.sharedInstance.name = 1 }",
    ])
    #expect(status != 0)
    #expect(
      errors == [
        "Value": ["'init(wrappedValue:_:unsupported:)' \(unsupported)"],
        "Elements": ["'init(wrappedValue:_:unsupported:)' \(unsupported)"],
        "Optional": ["'init()' \(unsupported)"],
        "Structure": ["'wrappedValue' is unavailable: @Preference belongs in a subclass of Preferences"],
        "Bogus": ["value of type 'D' has no member 'bogus'"],
        "Declared": ["cannot assign value of type 'Int' to type 'String'"],
      ])
  }

  /// The Swift of the guide, as one module, without a warning.
  @Test func theGuideCompiles() throws {
    let guide = try String(
      contentsOf: Oracles.package.appending(path: "Documentation/typed-preferences.md"), encoding: .utf8)
    let blocks = TypedGuideTests.blocks(of: guide, language: "swift")
    #expect(blocks.count >= 8)
    let (status, errors) = try Self.check(["Guide": blocks.joined(separator: "\n")])
    #expect(status == 0, "\(errors)")
  }
}

enum CompilerOfTests {
  static let isThere: Bool = {
    let isThere = OpenMembersTests.executable("swiftc") != nil && OpenMembersTests.builtModules() != nil
    if !isThere { print("SKIPPED: swiftc or the built modules not found") }
    return isThere
  }()
}
