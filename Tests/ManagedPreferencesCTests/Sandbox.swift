import CManagedPreferences
import ForcedDomain
import Foundation
import LinuxFiles
import PreferencesCore
import PropertyList
import TestPrograms
import Testing

@testable import ManagedPreferencesC

/// A home, an installation and a work folder of their own, removed at the end.
final class Sandbox: Sendable {
  static let application = "org.example.Editor"

  let path: String
  var home: String { path + "/home" }
  var configuration: String { home + "/.config" }
  var root: String { path + "/root" }
  var work: String { path + "/work" }
  var installation: Installation { Installation(root: root) }

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/managed-preferences-c-\(UUID().uuidString)"
    for folder in [configuration, root, work] { try Directory.createAll(folder, mode: 0o755) }
  }

  deinit { TestFolders.remove(path) }

  func write(_ text: String, to name: String) throws {
    try Directory.createAll(FilePath.parent(of: work + "/" + name), mode: 0o755)
    try AtomicReplacement.write(Array(text.utf8), to: work + "/" + name, mode: 0o644)
  }

  // MARK: Lists

  /// A search list that lives wholly in this sandbox.
  func list(_ domain: String = application, arguments: [String] = [], observes: Bool = false) throws -> SearchList {
    try SearchList(
      configuration: SearchList.Configuration(
        domain: domain, applicationDomain: Self.application, homeDirectory: home,
        configurationDirectory: configuration, arguments: arguments, installation: installation, observes: observes))
  }

  /// C's handle of such a list.
  func handle(_ domain: String = application, arguments: [String] = [], observes: Bool = false) throws -> Handle {
    Handle(owning: PreferencesHandle.owned(try list(domain, arguments: arguments, observes: observes)))
  }

  // MARK: Files

  func store(_ values: [String: PropertyListValue], _ domain: String = application) throws {
    let bytes = try PropertyListCoding.encode(.dictionary(values), as: .binary)
    try AtomicReplacement.write(bytes, to: "\(configuration)/\(domain).plist", mode: 0o600)
  }

  func stored(_ domain: String = application) throws -> [String: PropertyListValue]? {
    let (bytes, _) = try WholeFile.read("\(configuration)/\(domain).plist")
    return try PropertyListCoding.decode(bytes).dictionaryValue
  }

  /// Installs a generation in which one profile forces values, or recommends them.
  /// - Parameter window: Unix seconds of an open window.
  func install(
    _ values: [String: PropertyListValue], _ section: PolicySection = .forced, generation: UInt64 = 1,
    window: Range<Int64>? = nil
  ) throws {
    var writer = ForcedDomainWriter(kind: .forced)
    let profile = writer.addProfile(ProfileReference(id: "org.example.lab.exam", title: "Exam mode"))
    let everyDay = WeeklyWindow(fromMinute: 0, toMinute: 1440, timeZone: "UTC")
    let condition = window.map { writer.addCondition(Condition(windows: [everyDay]), intervals: [[$0]]) } ?? 0
    for (key, value) in values {
      let key = writer.addKey(domain: writer.addDomain(Self.application), key: key)
      let value = writer.addValue(value)
      writer.addEntry(
        key: key, section: section, action: .replace,
        rank: Rank(priority: 0, isOverride: false, hostClass: .none, userClass: .none), condition: condition,
        profile: profile, value: value)
    }
    let now = WallClock.unixSeconds()
    let bytes = try writer.finish(
      FileStamp(
        generation: generation, serial: generation, sourceDigest: [], hostName: "lab-a-03",
        horizon: now - 86_400..<now + 1000 * 86_400))
    try Directory.createAll(installation.stateDirectory, mode: 0o755)
    try AtomicReplacement.write(bytes, to: installation.forcedFile, mode: 0o644)
    let marker = GenerationMarker(
      generation: generation, serial: generation, sourceDigest: [], hostName: "lab-a-03", installedAt: now,
      forcedChecksum: try ForcedDomain(bytes: bytes, expecting: [.forced]).checksum)
    try AtomicReplacement.write(marker.bytes, to: installation.generationMarker, mode: 0o644)
  }

  // MARK: Programs

  struct Run: Equatable {
    var status: Int32
    var output: String
    var errors: String
  }

  /// Runs a program in the work folder, with nothing of the tester's environment.
  func run(_ words: [String], environment: [String: String] = [:]) async throws -> Run {
    let environment = [
      "HOME": home, "MANAGED_PREFERENCES_ROOT": root, "TZ": "UTC", "LC_ALL": "C.UTF-8",
      "PATH": Built.toolchain + ":/usr/bin:/bin:/usr/sbin:/sbin",
    ].merging(environment) { $1 }
    let (output, errors) = (work + "/.output", work + "/.errors")
    let program = try StartedProgram(
      words, environment: environment, in: work, output: .file(output), errors: .file(errors))
    return Run(
      status: await program.end(),
      output: String(decoding: try WholeFile.read(output).bytes, as: UTF8.self),
      errors: String(decoding: try WholeFile.read(errors).bytes, as: UTF8.self))
  }

  /// Enrols the sandbox's root and puts one profile in force, as an administrator does.
  func apply(profile: String) async throws {
    try write(profile, to: "policies/profile.yaml")
    for words in [["init", "--host", "lab-a-03"], ["apply", "policies"]] {
      let run = try await run([Built.folder + "/policyctl", "--root", root] + words)
      try #require(run.status == 0, "\(run.output)\(run.errors)")
    }
  }
}

/// A handle of C's. It stays open: Swift may end an object's life right after its last mention, which can be in the
/// middle of a call, and a test's process does not last long.
struct Handle {
  let pointer: OpaquePointer
  init(owning pointer: OpaquePointer) { self.pointer = pointer }
}

/// What the build made, and the tools beside it.
enum Built {
  /// The folder of this test's executable: `policyctl` is there too.
  static let folder: String = {
    let runner = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return FilePath.parent(of: runner ?? CommandLine.arguments[0])
  }()

  static let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// The toolchain's programs, `clang` among them.
  static let toolchain: String = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let swift: String? = path.split(separator: ":").map { "\($0)/swiftc" }.first(where: isProgram)
    return FilePath.parent(of: URL(filePath: swift ?? "/usr/bin/swiftc").resolvingSymlinksInPath().path)
  }()

  /// Header and shared library as they are installed, linked once for a run of the tests.
  static let interface = Task<String, any Error> {
    let sandbox = try Sandbox()
    let run = try await sandbox.run(
      [package + "/Scripts/link-library", FilePath.name(of: folder)],
      environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
    try #require(run.status == 0, "\(run.output)\(run.errors)")
    return folder + "/c-interface"
  }

  static func has(_ tool: String) -> Bool {
    (toolchain + ":/usr/bin:/bin").split(separator: ":").contains { isProgram("\($0)/\(tool)") }
  }

  private static func isProgram(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }
}

extension Sandbox {
  /// Compiles one of `Programs` against the built library and gives the path of the executable.
  func compile(_ name: String, _ flags: [String] = []) async throws -> String {
    let interface = try await Built.interface.value
    let program = work + "/" + (name as NSString).deletingPathExtension
    let compiler = name.hasSuffix(".c") ? ["clang", "-std=c11"] : ["clang++", "-std=c++17"]
    let run = try await run(
      compiler + ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-gdwarf-4", "-pthread", "-I\(interface)/include"]
        + flags
        + [
          Built.package + "/Tests/ManagedPreferencesCTests/Programs/" + name, "-o", program, "-L\(interface)/lib",
          "-lmanagedpreferences", "-Wl,-rpath,\(interface)/lib",
        ])
    try #require(run.status == 0, "\(run.errors)")
    return program
  }
}
