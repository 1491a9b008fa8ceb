// swift-tools-version: 6.2
import PackageDescription

let language: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// A room of the engine: one job, and the rooms that it may look into (Documentation/architecture.md has the table;
/// `ImportGuardTests` holds the import lines against it).
func room(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: language)
}

func command(
  _ name: String, _ dependencies: [Target.Dependency], path: String? = nil
) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: language)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: name + "Tests", dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: language)
}

let package = Package(
  name: "ManagedPreferences",
  products: [
    .library(name: "ManagedPreferences", targets: ["ManagedPreferences"]),
    .library(name: "ManagedFoundation", targets: ["ManagedFoundation"]),
    // Apart, so that only a program that uses it links libpq.
    .library(name: "UbiquitousStore", targets: ["UbiquitousStore"]),
    .library(name: "UbiquitousStorePostgreSQL", targets: ["UbiquitousStorePostgreSQL"]),
    // Scripts/link-library makes of it what is installed: with a soname, and without symbols but those of the header.
    .library(name: "managedpreferences", type: .dynamic, targets: ["ManagedPreferencesC"]),
    .executable(name: "policyctl", targets: ["policyctl"]),
    .executable(name: "defaults", targets: ["defaults"]),
    .executable(name: "policyd", targets: ["policyd"]),
  ],
  targets: [
    // System libraries. Without pkg-config, which would put the system's folder before the one that Scripts/build names.
    .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CExpat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
    .target(name: "CCrypto"),
    .target(name: "CSQLite"),
    .systemLibrary(name: "CFileSystems"),
    .target(name: "CReaderEpoch"),
    .target(name: "CProcesses"),
    .target(name: "CSockets"),

    // The engine.
    room("PropertyList", ["CExpat"]),
    room("LinuxFiles", ["CFileSystems", "CSockets"]),
    room("HostPatterns"),
    room("PolicyLanguage", ["PropertyList", "LinuxFiles", "HostPatterns", "CYAML"]),
    room("ForcedDomain", ["PropertyList", "LinuxFiles", "HostPatterns"]),
    room("Digests", ["LinuxFiles", "CCrypto"]),
    room(
      "PolicyCompiler",
      ["PolicyLanguage", "ForcedDomain", "HostPatterns", "PropertyList", "LinuxFiles", "Digests", "CCrypto"]),
    room("AuditEvents", ["PropertyList", "LinuxFiles"]),
    room("AuditLog", ["AuditEvents", "PropertyList", "LinuxFiles", "Digests"]),
    room("PreferencesCore", ["PropertyList", "LinuxFiles", "ForcedDomain", "AuditEvents", "CReaderEpoch"]),
    room("ManagedPreferences", ["PreferencesCore", "PropertyList", "ForcedDomain", "UbiquitousStore", "LinuxFiles"]),
    room("ManagedFoundation", ["ManagedPreferences"]),
    room("UbiquitousStore", ["PreferencesCore", "PropertyList", "LinuxFiles", "CSQLite"]),
    room("UbiquitousStorePostgreSQL", ["UbiquitousStore", "LinuxFiles", "CPostgreSQL"], exclude: ["Migrations"]),

    // The C interface: a header written by hand, and its functions.
    .target(name: "CManagedPreferences"),
    room(
      "ManagedPreferencesC",
      ["CManagedPreferences", "PreferencesCore", "PropertyList", "UbiquitousStore", "LinuxFiles"]),

    // The command lines.
    room("CommandLineKit", ["LinuxFiles"]),
    room(
      "ComplianceReport",
      ["CommandLineKit", "PreferencesCore", "ForcedDomain", "AuditLog", "PropertyList", "LinuxFiles"]),
    command(
      "policyctl",
      [
        "CommandLineKit", "ComplianceReport", "PolicyCompiler", "PolicyLanguage", "ForcedDomain", "HostPatterns",
        "PreferencesCore", "UbiquitousStore", "AuditEvents", "AuditLog", "Digests", "PropertyList", "LinuxFiles",
        "CProcesses",
      ]),

    command(
      "defaults",
      [
        "CommandLineKit", "PreferencesCore", "UbiquitousStore", "ForcedDomain", "AuditEvents", "PropertyList",
        "LinuxFiles",
      ]),

    command(
      "policyd",
      [
        "CommandLineKit", "PreferencesCore", "PolicyCompiler", "PolicyLanguage", "ForcedDomain", "AuditEvents",
        "AuditLog", "Digests", "PropertyList", "LinuxFiles",
      ]),

    // Examples.
    command("MapViewer", ["ManagedPreferences"], path: "Examples/MapViewer"),
    command("SmallestClient", ["ManagedPreferences"], path: "Examples/SmallestClient"),
    command("Roaming", ["ManagedPreferences", "UbiquitousStorePostgreSQL"], path: "Examples/Roaming"),
    command("FocusTimer", ["ManagedPreferences"], path: "Examples/FocusTimer"),
    command("MigrationBefore", [], path: "Examples/Migration/Before"),
    command("MigrationAfter", ["ManagedFoundation"], path: "Examples/Migration/After"),

    // What Scripts/bench runs beside the peers.
    command(
      "measure",
      [
        "ManagedPreferences", "PreferencesCore", "PolicyCompiler", "PolicyLanguage", "ForcedDomain", "LinuxFiles",
        "AuditLog", "AuditEvents", "PropertyList",
      ],
      path: "Benchmarks/Measure"),

    command(
      "measurestore", ["UbiquitousStorePostgreSQL", "UbiquitousStore"], path: "Benchmarks/MeasureStore"),

    // Tests, the way in which they start programs and remove folders, and the table of conversions that several of them hold.
    .target(name: "CTestPrograms", path: "Tests/CTestPrograms"),
    .target(
      name: "TestPrograms", dependencies: ["CTestPrograms", "LinuxFiles"], path: "Tests/TestPrograms",
      swiftSettings: language),
    .target(
      name: "ConversionRows", dependencies: ["PropertyList"], path: "Tests/ConversionRows", swiftSettings: language),
    tests("PropertyList", ["PropertyList", "ConversionRows"]),
    tests("LinuxFiles", ["LinuxFiles", "TestPrograms"]),
    tests("HostPatterns", ["HostPatterns"]),
    tests("PolicyLanguage", ["PolicyLanguage", "PropertyList", "LinuxFiles"], exclude: ["Cases"]),
    tests("ForcedDomain", ["ForcedDomain", "PropertyList", "LinuxFiles"], exclude: ["Fixtures"]),
    tests(
      "PolicyCompiler",
      [
        "PolicyCompiler", "PreferencesCore", "PolicyLanguage", "ForcedDomain", "Digests", "PropertyList", "LinuxFiles",
        "TestPrograms",
      ]),
    tests("Digests", ["Digests", "PreferencesCore"]),
    tests("AuditEvents", ["AuditEvents", "PropertyList", "LinuxFiles"]),
    tests(
      "AuditLog",
      [
        "AuditLog", "AuditEvents", "CommandSandbox", "Digests", "PropertyList", "LinuxFiles", "AuditPeer",
        "TestPrograms",
      ]),
    command("AuditPeer", ["AuditLog", "AuditEvents", "PropertyList", "LinuxFiles"], path: "Tests/AuditPeer"),
    tests(
      "PreferencesCore",
      [
        "PreferencesCore", "ForcedDomain", "PropertyList", "LinuxFiles", "AuditEvents", "CReaderEpoch",
        "PreferencesPeer", "TestPrograms",
      ]),
    command(
      "PreferencesPeer", ["PreferencesCore", "ForcedDomain", "AuditEvents", "PropertyList", "LinuxFiles"],
      path: "Tests/PreferencesPeer"),
    tests(
      "ManagedPreferences",
      [
        "ManagedPreferences", "UbiquitousStore", "PreferencesCore", "ForcedDomain", "PropertyList", "AuditEvents",
        "MapViewer", "SmallestClient", "FocusTimer", "MigrationBefore", "MigrationAfter", "FoundationPeer",
        "ConversionRows", "TestPrograms",
      ]),
    tests(
      "ManagedPreferencesC",
      [
        "ManagedPreferencesC", "CManagedPreferences", "PreferencesCore", "ForcedDomain", "PropertyList", "LinuxFiles",
        "ConversionRows", "policyctl", "TestPrograms",
      ],
      exclude: ["Programs"]),
    command("FoundationPeer", [], path: "Tests/FoundationPeer"),
    tests("CommandLineKit", ["CommandLineKit"]),
    tests(
      "ComplianceReport",
      [
        "ComplianceReport", "CommandLineKit", "PolicyCompiler", "PolicyLanguage", "PreferencesCore", "ForcedDomain",
        "AuditLog", "AuditEvents", "PropertyList", "LinuxFiles",
      ]),
    .target(
      name: "CommandSandbox", dependencies: ["TestPrograms", "LinuxFiles"], path: "Tests/CommandSandbox",
      swiftSettings: language),
    tests(
      "policyctl",
      [
        "policyctl", "MapViewer", "CommandLineKit", "CommandSandbox", "LinuxFiles", "PreferencesCore", "AuditLog",
        "AuditEvents", "AuditPeer", "PropertyList",
      ],
      exclude: ["Programs"]),
    tests(
      "defaults",
      [
        "defaults", "policyctl", "AuditEvents", "CommandLineKit", "CommandSandbox", "ConversionRows",
        "PreferencesCore", "PropertyList", "LinuxFiles",
      ]),
    tests(
      "policyd",
      [
        "policyd", "policyctl", "defaults", "AgentPeer", "AuditEvents", "AuditLog", "CommandSandbox",
        "PolicyCompiler", "PolicyLanguage", "PreferencesCore", "ForcedDomain", "PropertyList", "LinuxFiles",
        "TestPrograms",
      ]),
    command("AgentPeer", ["AuditEvents", "PropertyList", "LinuxFiles"], path: "Tests/AgentPeer"),
    // A PostgreSQL server of the tests' own, and what every back end of the synced store promises.
    .target(
      name: "PostgreSQLServer", dependencies: ["CommandSandbox", "LinuxFiles", "TestPrograms"],
      path: "Tests/PostgreSQLServer", swiftSettings: language),
    .target(
      name: "BackEndConformance", dependencies: ["UbiquitousStore"], path: "Tests/BackEndConformance",
      swiftSettings: language),
    tests(
      "UbiquitousStorePostgreSQL",
      [
        "UbiquitousStorePostgreSQL", "UbiquitousStore", "BackEndConformance", "PostgreSQLServer", "CommandSandbox",
        "LinuxFiles", "Roaming", "TestPrograms",
      ]),
    tests(
      "UbiquitousStore",
      [
        "UbiquitousStore", "PreferencesCore", "ForcedDomain", "AuditEvents", "BackEndConformance", "PropertyList",
        "LinuxFiles", "StorePeer", "TestPrograms",
      ]),
    command("StorePeer", ["UbiquitousStore", "PropertyList", "LinuxFiles"], path: "Tests/StorePeer"),
    tests("Guard", []),
  ]
)
