import Foundation
import TestPrograms
import Testing

/// No member of `Foundation.UserDefaults` bypasses `ManagedDefaults`: the toolchain's own Foundation says which members are
/// open, our module says which it overrides, and a member that a later Foundation adds shows up here.
@Suite struct OpenMembersTests {
  @Test func everyOpenMemberIsOverridden() throws {
    guard let tool = Self.executable("swift-symbolgraph-extract"), let modules = Self.builtModules() else {
      print("SKIPPED: swift-symbolgraph-extract or the built modules not found")
      return
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let foundation = try Self.symbols(of: "Foundation", tool: tool, modules: modules, into: folder)
    let ours = try Self.symbols(of: "ManagedPreferences", tool: tool, modules: modules, into: folder)

    let members = foundation.symbols.filter {
      $0.pathComponents.first == "UserDefaults" && $0.pathComponents.count == 2
        && ($0.accessLevel == "open" || $0.kind.identifier == "swift.init")
    }
    // 32 open members and two initializers in Foundation 6.3: fewer would mean that this test looks at nothing.
    #expect(members.count >= 34)

    let overridden = Set(ours.relationships.filter { $0.kind == "overrides" }.map(\.target))
    let bypassing = members.filter { !overridden.contains($0.identifier.precise) }
      .map { $0.pathComponents.joined(separator: ".") }.sorted()
    // `init()` calls `init(suiteName:)`, and is inherited because every designated initializer is overridden.
    #expect(bypassing == ["UserDefaults.init()"])
  }

  struct Graph: Decodable {
    struct Symbol: Decodable {
      struct Identifier: Decodable { let precise: String }
      struct Kind: Decodable { let identifier: String }
      let identifier: Identifier
      let kind: Kind
      let pathComponents: [String]
      let accessLevel: String
    }
    struct Relationship: Decodable {
      let kind: String
      let source: String
      let target: String
    }
    let symbols: [Symbol]
    let relationships: [Relationship]
  }

  static func symbols(of module: String, tool: URL, modules: URL, into folder: URL) throws -> Graph {
    let words =
      [
        tool.path, "-module-name", module, "-target", "\(Self.architecture)-unknown-linux-gnu", "-output-dir",
        folder.path, "-minimum-access-level", "public", "-skip-synthesized-members", "-I", modules.path,
      ] + Self.moduleMaps(besides: modules).flatMap { ["-I", $0.path] }
    #expect(try StartedProgram(words).wait() == 0)
    return try JSONDecoder().decode(
      Graph.self, from: Data(contentsOf: folder.appending(path: "\(module).symbols.json")))
  }

  #if arch(arm64)
    static let architecture = "aarch64"
  #else
    static let architecture = "x86_64"
  #endif

  static func executable(_ name: String) -> URL? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { URL(filePath: String($0)).appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  /// The folders of the C modules that our module's dependencies name: system libraries, and targets of our own, whose
  /// maps the build makes.
  static func moduleMaps(besides modules: URL) -> [URL] {
    let sources = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
      .appending(path: "Sources")
    return [sources, modules.deletingLastPathComponent()]
      .flatMap { (try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)) ?? [] }
      .filter { FileManager.default.fileExists(atPath: $0.appending(path: "module.modulemap").path) }
  }

  /// The folder of `.swiftmodule` files beside this test's executable.
  static func builtModules() -> URL? {
    guard let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
      return nil
    }
    let folder = URL(filePath: executable).deletingLastPathComponent().appending(path: "Modules")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }
}
