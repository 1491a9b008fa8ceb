import Foundation
import Testing

/// The table of rooms and what each may import, held against the `import` lines of `Sources`.
///
/// The toolchain's own modules are free to all, Foundation excepted: only what Swift applications import may load it, since that
/// costs a program 5 ms at launch.
@Suite struct ImportGuardTests {
  static let table: [String: Set<String>] = [
    "CYAML": [], "CExpat": [], "CPostgreSQL": [], "CCrypto": [], "CSQLite": [], "CFileSystems": [], "CReaderEpoch": [],
    "CProcesses": [], "CSockets": [],
    "HostPatterns": [],
    "PropertyList": ["CExpat"],
    "LinuxFiles": ["CFileSystems", "CSockets"],
    "PolicyLanguage": ["PropertyList", "LinuxFiles", "HostPatterns", "CYAML"],
    "ForcedDomain": ["PropertyList", "LinuxFiles", "HostPatterns"],
    "PolicyCompiler": [
      "PolicyLanguage", "ForcedDomain", "PropertyList", "LinuxFiles", "HostPatterns", "Digests", "CCrypto",
    ],
    "Digests": ["LinuxFiles", "CCrypto"],
    "AuditEvents": ["PropertyList", "LinuxFiles"],
    "AuditLog": ["AuditEvents", "PropertyList", "LinuxFiles", "Digests"],
    "PreferencesCore": ["PropertyList", "LinuxFiles", "ForcedDomain", "AuditEvents", "CReaderEpoch"],
    "ManagedPreferences": [
      "PreferencesCore", "PropertyList", "ForcedDomain", "UbiquitousStore", "LinuxFiles", "Foundation", "Observation",
    ],
    "CManagedPreferences": [],
    "ManagedPreferencesC": ["CManagedPreferences", "PreferencesCore", "PropertyList", "UbiquitousStore", "LinuxFiles"],
    "ManagedFoundation": ["ManagedPreferences", "Foundation"],
    "UbiquitousStore": ["PreferencesCore", "PropertyList", "LinuxFiles", "CSQLite"],
    "UbiquitousStorePostgreSQL": ["UbiquitousStore", "LinuxFiles", "CPostgreSQL"],
    "CommandLineKit": ["LinuxFiles"],
    "ComplianceReport": [
      "CommandLineKit", "PreferencesCore", "ForcedDomain", "AuditLog", "PropertyList", "LinuxFiles",
    ],
    "policyctl": [
      "CommandLineKit", "ComplianceReport", "PolicyCompiler", "PolicyLanguage", "ForcedDomain", "PreferencesCore",
      "UbiquitousStore",
      "AuditEvents", "AuditLog", "Digests", "PropertyList", "LinuxFiles", "HostPatterns", "CProcesses",
    ],
    "policyd": [
      "CommandLineKit", "PreferencesCore", "PolicyCompiler", "PolicyLanguage", "ForcedDomain", "AuditEvents",
      "AuditLog", "Digests",
      "PropertyList", "LinuxFiles",
    ],
    "defaults": [
      "CommandLineKit", "PreferencesCore", "UbiquitousStore", "ForcedDomain", "AuditEvents", "PropertyList",
      "LinuxFiles",
    ],
  ]
  static let toolchain: Set<String> = ["Swift", "Glibc", "Synchronization", "Dispatch"]

  static let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func imports(in text: String) -> Set<String> {
    var modules: Set<String> = []
    for line in text.split(whereSeparator: \.isNewline) {
      var words = line.split(separator: " ").map(String.init)
      while let first = words.first,
        first.hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains(first)
      {
        words.removeFirst()
      }
      guard words.first == "import", words.count > 1 else { continue }
      if ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"].contains(words[1]) {
        words.remove(at: 1)
      }
      modules.insert(String(words[1].prefix { $0 != "." }))
    }
    return modules
  }

  @Test(arguments: table.keys.sorted()) func aRoomImportsOnlyWhatTheTableAllows(room: String) throws {
    let folder = Self.packageRoot.appendingPathComponent("Sources/\(room)")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let allowed = Self.table[room, default: []].union(Self.toolchain)
    for case let file as URL in files where file.pathExtension == "swift" {
      let found = Self.imports(in: try String(contentsOf: file, encoding: .utf8))
      #expect(found.subtracting(allowed).isEmpty, "\(file.lastPathComponent) imports what \(room) may not")
    }
  }

  @Test func everyRoomStandsInTheTable() throws {
    let rooms = try FileManager.default.contentsOfDirectory(atPath: Self.packageRoot.path + "/Sources")
      .filter { !$0.hasPrefix(".") }
    #expect(Set(rooms).subtracting(Self.table.keys).isEmpty)
  }

  /// Release builds leave the toolchain's module for regular expressions out (Scripts/build): what is in it compiles
  /// here, and not there.
  @Test(arguments: table.keys.filter { $0 != "ManagedPreferences" }.sorted())
  func aRoomSearchesWithoutRegularExpressions(room: String) throws {
    let folder = Self.packageRoot.appendingPathComponent("Sources/\(room)")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let names = ["firstRange(of:", "ranges(of:", "firstMatch(of:", "wholeMatch(", "trimmingPrefix(", "Regex"]
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for name in names { #expect(!text.contains(name), "\(file.lastPathComponent) uses \(name)") }
    }
  }

  @Test func importLinesAreRecognised() {
    let text =
      "public import A\n@_exported import struct B.C\nimport D // why\n  import E\n// import F\nlet import1 = 2"
    #expect(Self.imports(in: text) == ["A", "B", "D", "E"])
  }
}
