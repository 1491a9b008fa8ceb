import ForcedDomain
import Foundation
import ManagedPreferences
import PropertyList
import TestPrograms
import Testing

@testable import MapViewer

/// The example program, run as a person or a pipe runs it.
@Suite struct MapViewerTests {
  static let domain = "org.example.MapViewer"
  let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private var environment: [String: String] {
    ["HOME": sandbox.home, "MANAGED_PREFERENCES_ROOT": sandbox.root, "PATH": "/usr/bin:/bin", "TZ": "UTC"]
  }

  struct Run {
    var status: Int32
    var output: String
    var errors: String
    /// The last line of output: the control.
    var control: String { output.split(separator: "\n").last.map(String.init) ?? "" }
  }

  func run(
    _ arguments: [String] = [], program: String = "MapViewer", input: String = "", environment: [String: String] = [:]
  ) throws -> Run {
    try Self.run(
      program.hasPrefix("/") ? URL(filePath: program) : Self.built(program), arguments, input: input,
      environment: self.environment.merging(environment) { $1 })
  }

  /// Runs a program with this environment alone.
  static func run(
    _ program: URL, _ arguments: [String], input: String = "", environment: [String: String]
  ) throws -> Run {
    let errors = FileManager.default.temporaryDirectory.appending(path: "errors-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: errors) }
    let running = try StartedProgram(
      [program.path] + arguments, environment: environment, input: .typed, output: .read, errors: .file(errors.path))
    running.type(input)
    running.endInput()
    let output = running.all()
    return Run(
      status: running.wait(), output: output, errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }

  /// A program beside this test's executable.
  static func built(_ program: String) throws -> URL {
    let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: executable).deletingLastPathComponent().appending(path: program)
  }

  func force(_ mapType: String, generation: UInt64 = 1) throws {
    try sandbox.install([.init("MapType", .string(mapType), domain: Self.domain)], generation: generation)
  }

  @Test func registeredDefault() throws {
    let run = try run(["--show"])
    #expect(run.status == 0)
    #expect(run.control == "Map type   [ Standard ]  ( Satellite )  ( Hybrid )")
    #expect(run.errors == "")
  }

  @Test func choiceIsRestoredAtTheNextLaunch() throws {
    let chosen = try run(["--choose", "Satellite"])
    #expect(chosen.status == 0)
    #expect(chosen.control == "Map type   ( Standard )  [ Satellite ]  ( Hybrid )")
    #expect(try run(["--show"]).control == "Map type   ( Standard )  [ Satellite ]  ( Hybrid )")
    #expect(FileManager.default.fileExists(atPath: sandbox.configuration + "/org.example.MapViewer.plist"))
  }

  @Test func greyedOutWhenForced() throws {
    #expect(try run(["--choose", "hybrid"]).status == 0)
    try force("Standard")
    #expect(
      try run(["--show"]).control
        == "Map type   [ Standard ]  ( Satellite )  ( Hybrid )      locked by \"Exam mode\"")
    let refused = try run(["--choose", "Satellite"])
    #expect(refused.status == 77)
    #expect(refused.errors == "The map type is locked by \"Exam mode\"; Satellite was not chosen.\n")
    #expect(refused.output == "")
    try sandbox.install([], generation: 2)
    #expect(try run(["--show"]).control == "Map type   ( Standard )  ( Satellite )  [ Hybrid ]")
  }

  @Test func saysUntilWhen() throws {
    let now = Int64(Date().timeIntervalSince1970)
    let end = (now / 60 + 30) * 60
    try sandbox.install([.init("MapType", .string("Hybrid"), domain: Self.domain, window: now - 60..<end)])
    let parts = Calendar(identifier: .gregorian).dateComponents(
      in: TimeZone(identifier: "UTC")!, from: Date(timeIntervalSince1970: Double(end)))
    let clock = String(format: "%02d:%02d", parts.hour!, parts.minute!)
    let control = try run(["--show"]).control
    #expect(control.hasPrefix("Map type   ( Standard )  ( Satellite )  [ Hybrid ]      locked by \"Exam mode\" until "))
    #expect(control.hasSuffix(clock))
  }

  @Test(
    arguments: [
      (["--show", "-MapType", "Hybrid"], [:]),
      (["--show", "--", "-MapType", "Hybrid"], [:]),
      (["--show"], ["MapType": "Hybrid", "XDG_CONFIG_HOME": "/nonexistent"]),
      (["--show"], ["POLICY_STORE": "/tmp/mine", "HOME": "/nonexistent"]),
    ] as [([String], [String: String])])
  func nothingOutranksWhatIsForced(_ arguments: [String], _ environment: [String: String]) throws {
    try force("Satellite")
    #expect(
      try run(arguments, environment: environment).control
        == "Map type   ( Standard )  [ Satellite ]  ( Hybrid )      locked by \"Exam mode\"")
  }

  @Test func argumentsCountWhileFree() throws {
    #expect(try run(["--show", "-MapType", "Hybrid"]).control == "Map type   ( Standard )  ( Satellite )  [ Hybrid ]")
    #expect(
      try run(["--show", "--", "-MapType", "Hybrid"]).control == "Map type   [ Standard ]  ( Satellite )  ( Hybrid )")
  }

  @Test func aCopiedProgramStatesItsDomain() throws {
    try force("Satellite")
    let copy = sandbox.folder.appending(path: "FreeViewer")
    // By another process: a program that a test starts meanwhile would hold the copy open for writing, which can't be run then.
    #expect(try StartedProgram(["cp", Self.built("MapViewer").path, copy.path]).wait() == 0)
    #expect(
      try run(["--show"], program: copy.path).control
        == "Map type   ( Standard )  [ Satellite ]  ( Hybrid )      locked by \"Exam mode\"")
  }

  @Test func lockedWhenThePoliciesCannotBeRead() throws {
    try force("Satellite")
    try sandbox.replace(sandbox.installation.forcedFile, [1, 2, 3])
    let run = try run(["--show"])
    #expect(
      run.control
        == "Map type   [ Standard ]  ( Satellite )  ( Hybrid )      locked: the settings of the administrator can't be read"
    )
    #expect(try self.run(["--choose", "Hybrid"]).status == 77)
  }

  @Test func unknownType() throws {
    try force("Terrain\u{1B}[2J")
    #expect(
      try run(["--show"]).control
        == "Map type   ( Standard )  ( Satellite )  ( Hybrid )      \"Terrain?[2J\" is not a type that this program knows"
        + "      locked by \"Exam mode\"")
  }

  @Test func commandsThroughAPipe() throws {
    let run = try run(input: "2\nhyb\n\ns\nq\n1\n")
    let controls = run.output.split(separator: "\n").filter { $0.hasPrefix("Map type") }
    #expect(
      controls == [
        "Map type   [ Standard ]  ( Satellite )  ( Hybrid )", "Map type   ( Standard )  [ Satellite ]  ( Hybrid )",
        "Map type   ( Standard )  ( Satellite )  [ Hybrid ]", "Map type   ( Standard )  ( Satellite )  [ Hybrid ]",
      ])
    #expect(run.errors == "'s' is not a map type. Choose one of: Standard, Satellite, Hybrid.\n")
    #expect(run.status == 0)
    #expect(try self.run(["--show"]).control == "Map type   ( Standard )  ( Satellite )  [ Hybrid ]")
  }

  /// A running program is told that it is locked now, without being asked to look.
  @Test func drawsAnewWhenItIsLocked() throws {
    let program = try StartedProgram(
      [Self.built("MapViewer").path], environment: environment, input: .typed, output: .read)
    /// Reads on until the next such line.
    func reads(_ expected: String) -> Bool {
      while let line = program.line() { if line == expected { return true } }
      return false
    }
    #expect(reads("Map type   [ Standard ]  ( Satellite )  ( Hybrid )"))
    try force("Standard")
    #expect(reads("Map type   [ Standard ]  ( Satellite )  ( Hybrid )      locked by \"Exam mode\""))
    try sandbox.install([], generation: 2)
    #expect(reads("Map type   [ Standard ]  ( Satellite )  ( Hybrid )"))
    program.type("2\n")
    #expect(reads("Map type   ( Standard )  [ Satellite ]  ( Hybrid )"))
  }

  @Test func greyOnATerminal() {
    #expect(
      MapTypeControl(text: "Hybrid", lock: "locked", styled: true).line
        == "\u{1B}[2mMap type   ( Standard )  ( Satellite )  [ Hybrid ]\u{1B}[0m      locked")
    #expect(
      MapTypeControl(text: "Hybrid", lock: nil, styled: true).line
        == "Map type   ( Standard )  ( Satellite )  [ Hybrid ]")
  }

  @Test func wrongOptions() throws {
    let unknown = try run(["--frobnicate"])
    #expect(unknown.status == 64)
    #expect(unknown.errors.hasPrefix("'--frobnicate' is not an option.\n"))
    #expect(try run(["--choose", "Terrain"]).status == 64)
    #expect(try run(["--choose"]).status == 64)
    #expect(try run(["--help"]).status == 0)
  }

  @Test func label() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
    func moment(_ day: Int, _ hour: Int, _ minute: Int) throws -> Date {
      try #require(calendar.date(from: DateComponents(year: 2026, month: 12, day: day, hour: hour, minute: minute)))
    }
    func label(_ titles: [String], until: Date?) throws -> String {
      Lock(titles: titles, until: until).label(now: try moment(1, 9, 30), calendar: calendar)
    }
    #expect(try label(["Exam mode"], until: moment(1, 11, 30)) == "locked by \"Exam mode\" until 11:30")
    #expect(try label(["Exam mode"], until: moment(2, 9, 5)) == "locked by \"Exam mode\" until Wed 09:05")
    #expect(try label(["Exam mode"], until: moment(24, 23, 59)) == "locked by \"Exam mode\" until 2026-12-24 23:59")
    #expect(try label(["Exam mode", "Kiosk"], until: nil) == "locked by \"Exam mode\" and \"Kiosk\"")
    #expect(try label([], until: nil) == "locked: the settings of the administrator can't be read")
  }

  @Test func smallestClient() throws {
    #expect(try run(program: "SmallestClient").output == "Saving every 60 seconds.\n")
    #expect(try run(["-AutoSaveInterval", "90"], program: "SmallestClient").output == "Saving every 90 seconds.\n")
    try sandbox.install([.init("AutoSaveInterval", .integer(30))])
    #expect(
      try run(["-AutoSaveInterval", "90"], program: "SmallestClient").output
        == "Saving every 30 seconds (set by Exam mode).\n")
  }
}
