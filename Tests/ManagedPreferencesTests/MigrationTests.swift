import Foundation
import PropertyList
import Testing

/// The example of a program written for Foundation, with its files: the same program on ours has one other line.
@Suite struct MigrationTests {
  let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  enum Build: String, CaseIterable {
    case before = "MigrationBefore"
    case after = "MigrationAfter"
  }

  /// Runs one of the builds as `Migration`: the name of a program's file is its domain.
  private func run(_ build: Build, _ arguments: String...) throws -> String {
    let program = sandbox.folder.appending(path: "\(build.rawValue)/Migration")
    if !FileManager.default.fileExists(atPath: program.path) {
      try FileManager.default.createDirectory(
        at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
      // A hard link, where it can be made: nothing holds the program open for writing while another test starts a child.
      try FileManager.default.linkItem(at: MapViewerTests.built(build.rawValue), to: program)
    }
    let result = try MapViewerTests.run(
      program, arguments,
      environment: [
        "HOME": sandbox.home, "MANAGED_PREFERENCES_ROOT": sandbox.root, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
      ])
    #expect(result.status == 0 && result.errors.isEmpty, "\(build) \(arguments): \(result.errors)")
    return result.output
  }

  @Test func oneLineDiffers() throws {
    let lines = try ["Before", "After"].map { folder in
      let file = Oracles.package.appending(path: "Examples/Migration/\(folder)/main.swift")
      return try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    }
    try #require(lines[0].count == lines[1].count)
    let changed = zip(lines[0], lines[1]).filter { $0 != $1 }
    #expect(changed.map { "\($0) -> \($1)" } == ["import Foundation -> import ManagedFoundation"])
  }

  static let registered = """
    theme: light
    font: 12 lines: 1.25
    margin: 0.0 hyphenation: true
    shelves: ["Unread", "Read"]
    places: []
    folder: none
    cover: []
    opened: 0
    page: 3
    launches: 0

    """
  static let changed = """
    theme: dark
    font: 14 lines: 1.5
    margin: 0.1 hyphenation: false
    shelves: ["Unread", "Favourites", "Später"]
    places: ["moby-dick 41", "walden 7"]
    folder: /srv/books
    cover: [0, 1, 255]
    opened: 694265400.0
    page: 3
    launches: 1

    """
  static let preset = """
    theme: sepia
    font: 18 lines: 1.25
    margin: 0.0 hyphenation: true
    shelves: ["Unread", "Read"]
    places: []
    folder: none
    cover: []
    opened: 0
    page: 3
    launches: 1

    """

  /// Each build in turn goes on with what the other left in the files.
  @Test(arguments: Build.allCases, Build.allCases) func goesOnWithTheOthersFiles(_ writer: Build, _ reader: Build)
    throws
  {
    #expect(try run(reader, "show") == Self.registered)
    #expect(try run(writer, "change") == "")
    let files = try FileManager.default.contentsOfDirectory(atPath: sandbox.configuration)
    #expect(files.filter { $0.hasSuffix(".plist") }.sorted() == ["Migration.plist", "org.example.Reader.plist"])
    #expect(try run(reader, "show") == Self.changed)
    #expect(try run(writer, "show") == Self.changed)
    #expect(try run(reader, "preset") == "Settings changed.\n")
    #expect(try run(writer, "show") == Self.preset)
    #expect(try run(reader, "show") == Self.preset)
    #expect(try run(writer, "reset") == "")
    #expect(try run(reader, "show") == Self.registered.replacingOccurrences(of: "launches: 0", with: "launches: 1"))
  }

  /// What the changed line is for.
  @Test func thePolicyHoldsAfterIt() throws {
    #expect(try run(.before, "change") == "")
    try sandbox.install([.init("Theme", .string("contrast"), domain: "org.example.Reader")])
    #expect(try run(.before, "show") == Self.changed)
    #expect(try run(.after, "show") == Self.changed.replacingOccurrences(of: "dark", with: "contrast"))
  }

  @Test func argumentsOfALaunch() throws {
    for build in Build.allCases {
      #expect(
        try run(build, "show", "-Theme", "dark")
          == Self.registered.replacingOccurrences(of: "light", with: "dark"), "\(build)")
    }
  }
}
