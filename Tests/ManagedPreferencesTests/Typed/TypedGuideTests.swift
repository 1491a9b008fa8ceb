import Foundation
import ManagedPreferences
import PropertyList
import TestPrograms
import Testing

/// The example program, and the guide's lines that run it.
@Suite struct TypedGuideTests {
  static let domain = "org.example.FocusTimer"
  let sandbox: Sandbox
  init() throws { sandbox = try Sandbox() }

  static func blocks(of text: String, language: String) -> [String] {
    text.components(separatedBy: "```\(language)\n").dropFirst().map {
      $0.components(separatedBy: "```").first ?? ""
    }
  }

  private func run(_ arguments: String...) throws -> MapViewerTests.Run { try run(arguments) }

  private func run(_ arguments: [String]) throws -> MapViewerTests.Run {
    try MapViewerTests.run(
      MapViewerTests.built("FocusTimer"), arguments,
      environment: ["HOME": sandbox.home, "MANAGED_PREFERENCES_ROOT": sandbox.root, "LC_ALL": "C.UTF-8"])
  }

  /// `$ FocusTimer …` is run; the lines below it are what it prints. A line that begins with `# ` says what has happened
  /// meanwhile: the administrator's policy.
  @Test func theGuidesCommandsDoWhatItSays() throws {
    let guide = try String(
      contentsOf: Oracles.package.appending(path: "Documentation/typed-preferences.md"), encoding: .utf8)
    var commands = 0
    for block in Self.blocks(of: guide, language: "console") {
      var lines = block.split(separator: "\n")[...]
      while let line = lines.popFirst() {
        if line == "# a policy forces pomodoroLength" {
          try sandbox.install([.init("pomodoroLength", .integer(900), domain: Self.domain)])
          continue
        }
        try #require(line.hasPrefix("$ FocusTimer"), "\(line)")
        var expected: [Substring] = []
        while let next = lines.first, !next.hasPrefix("$ "), !next.hasPrefix("# ") {
          expected.append(lines.removeFirst())
        }
        let run = try run(line.split(separator: " ").dropFirst(2).map(String.init))
        #expect((run.output + run.errors).split(separator: "\n") == expected, "\(line)")
        commands += 1
      }
    }
    #expect(commands >= 5)
  }

  @Test func anUpdateMigrates() throws {
    let old = sandbox.defaults(Self.domain)
    old.set("1.0", forKey: "lastVersionInstalled")
    old.set(30, forKey: "pomodoroLength")
    #expect(old.synchronize())
    #expect(try run().output.hasPrefix("pomodoroLength  1800\n"), "version 1 counted minutes")
    #expect(try run().output.hasPrefix("pomodoroLength  1800\n"))
    #expect(sandbox.defaults(Self.domain).string(forKey: "lastVersionInstalled") == "2.0")
    #expect(sandbox.defaults(Self.domain).string(forKey: "firstVersionInstalled") == "1.0")
  }

  @Test func mistakesAreRefused() throws {
    let unknown = try run("set", "colour", "red")
    #expect(unknown.status == 64 && unknown.output == "")
    #expect(
      unknown.errors == "'colour' is not a preference. Choose one of: pomodoroLength, workStartSound, kids, theme.\n")
    let text = try run("set", "pomodoroLength", "long")
    #expect(text.status == 64 && text.errors == "'long' is not a value of pomodoroLength.\n")
    let usage = try run("dance")
    #expect(usage.status == 64 && usage.errors.hasPrefix("'dance' is not a command.\n"))
  }

  /// One process watches while another assigns and a policy comes and goes.
  @Test func watching() throws {
    let program = try StartedProgram(
      [MapViewerTests.built("FocusTimer").path, "watch", "3"],
      environment: ["HOME": sandbox.home, "MANAGED_PREFERENCES_ROOT": sandbox.root], output: .read)
    #expect(program.line() == "1500")
    #expect(try run("set", "pomodoroLength", "1200").status == 0)
    #expect(program.line() == "1200")
    try sandbox.install([.init("pomodoroLength", .integer(900), domain: Self.domain)])
    #expect(program.line() == "900, set by Exam mode")
    #expect(program.wait() == 0)
  }
}
