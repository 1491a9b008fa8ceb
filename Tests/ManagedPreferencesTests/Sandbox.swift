import AuditEvents
import ForcedDomain
import Foundation
import PreferencesCore
import PropertyList
import TestPrograms

@testable import ManagedPreferences

/// A home and an installation of their own in a temporary folder, removed at the end.
final class Sandbox: Sendable {
  static let application = "org.example.Editor"

  let folder: URL
  var home: String { folder.appending(path: "home").path }
  var configuration: String { home + "/.config" }
  var root: String { folder.appending(path: "root").path }
  var installation: Installation { Installation(root: root) }

  init() throws {
    folder = URL(filePath: Self.common).appending(path: UUID().uuidString)
    for path in [configuration, root] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The folder of all sandboxes of a test run, exit tests' processes included (they inherit the variable, and die without
  /// cleaning up). It goes at exit, after the library's own last writes.
  private static let common: String = {
    let variable = "MANAGED_PREFERENCES_TEST_FOLDER"
    if let inherited = ProcessInfo.processInfo.environment[variable] { return inherited }
    let path = FileManager.default.temporaryDirectory.appending(path: "managed-\(UUID().uuidString)").path
    setenv(variable, path, 1)
    TestFolders.removeAtLast(path)
    return path
  }()

  /// Defaults that live wholly in this sandbox.
  func defaults(
    _ domain: String = application, arguments: [String] = [], languages: [String]? = nil, observes: Bool = false,
    sink: (any AuditEventSink)? = nil
  ) -> ManagedDefaults {
    let configuration = SearchList.Configuration(
      domain: domain, applicationDomain: Self.application, homeDirectory: home,
      configurationDirectory: self.configuration, arguments: arguments, languages: languages,
      installation: installation, sink: sink, observes: observes)
    do {
      return ManagedDefaults(list: try SearchList(configuration: configuration))
    } catch {
      fatalError("\(error)")
    }
  }

  /// A key that a profile forces, or recommends.
  struct Entry {
    var domain = Sandbox.application
    var key: String
    var value: PropertyListValue
    var section = PolicySection.forced
    var profile = ProfileReference(id: "org.example.lab.exam", title: "Exam mode")
    /// Unix seconds of an open window.
    var window: Range<Int64>?

    init(
      _ key: String, _ value: PropertyListValue, domain: String = Sandbox.application,
      section: PolicySection = .forced, window: Range<Int64>? = nil
    ) {
      self.key = key
      self.value = value
      self.domain = domain
      self.section = section
      self.window = window
    }
  }

  /// The bytes of a forced domain file.
  /// - Parameter contained: the applications that the policy contains, with nothing shared.
  static func forcedFile(_ entries: [Entry], containing contained: [String] = [], generation: UInt64) throws -> [UInt8]
  {
    var writer = ForcedDomainWriter(kind: .forced)
    let grants = contained.map { identifier -> PropertyListValue in
      let nothing = PropertyListValue.array([])
      return .dictionary([
        "domain": .string(identifier), "groups": nothing, "read": nothing, "files": nothing,
        "profile": .string("org.example.lab.contained"), "condition": .integer(PropertyListInteger(0)),
      ])
    }
    if !grants.isEmpty { writer.setAnnex(.dictionary(["containers": .array(grants)])) }
    for entry in entries {
      let profile = writer.addProfile(entry.profile)
      let condition =
        entry.window.map { window in
          writer.addCondition(
            Condition(windows: [WeeklyWindow(fromMinute: 0, toMinute: 1440, timeZone: "UTC")]),
            intervals: [[window]])
        } ?? 0
      let domain = writer.addDomain(entry.domain)
      let key = writer.addKey(domain: domain, key: entry.key)
      let value = writer.addValue(entry.value)
      writer.addEntry(
        key: key, section: entry.section, action: .replace,
        rank: Rank(priority: 0, isOverride: false, hostClass: .none, userClass: .none), condition: condition,
        profile: profile, value: value)
    }
    let now = Int64(Date().timeIntervalSince1970)
    return try writer.finish(
      FileStamp(
        generation: generation, serial: generation, sourceDigest: [UInt8](repeating: 7, count: 32),
        hostName: "lab-a-03",
        horizon: now - 86_400..<now + 1000 * 86_400))
  }

  /// Installs a generation as `policyctl install` does: the file first, by rename, and then the marker.
  func install(_ entries: [Entry], containing contained: [String] = [], generation: UInt64 = 1) throws {
    let bytes = try Self.forcedFile(entries, containing: contained, generation: generation)
    try replace(installation.forcedFile, bytes)
    try mark(generation: generation, forcedFile: bytes)
  }

  func mark(generation: UInt64, forcedFile bytes: [UInt8]) throws {
    let domain = try ForcedDomain(bytes: bytes, expecting: [.forced])
    let marker = GenerationMarker(
      generation: generation, serial: generation, sourceDigest: [UInt8](repeating: 7, count: 32), hostName: "lab-a-03",
      installedAt: Int64(Date().timeIntervalSince1970), forcedChecksum: domain.checksum)
    try replace(installation.generationMarker, marker.bytes)
  }

  func replace(_ path: String, _ bytes: [UInt8], mode: Int = 0o644) throws {
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    // Its mode comes before its name: who is watching never sees it with another.
    let draft = path + ".draft"
    try Data(bytes).write(to: URL(filePath: draft))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: draft)
    guard rename(draft, path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }
}

/// Waits for something that another thread does; false after a minute, which no test passes.
func eventually(_ condition: () -> Bool) -> Bool {
  let deadline = ContinuousClock.now + .seconds(60)
  while ContinuousClock.now < deadline {
    if condition() { return true }
    Thread.sleep(forTimeInterval: 0.01)
  }
  return condition()
}
