import CommandSandbox
import Foundation
import LinuxFiles
import PostgreSQLServer
import TestPrograms
import Testing
import UbiquitousStorePostgreSQL

/// Examples/Roaming as two machines: two processes with a home each, and one server.
@Suite(.enabled(if: TrialServer.isAvailable)) struct RoamingTests {
  /// The program on one machine.
  final class Machine: Sendable {
    private let program: StartedProgram
    private let errors: String

    init(home: String, service: String) throws {
      try Directory.createAll(home, mode: 0o755)
      errors = home + "/errors"
      program = try StartedProgram(
        [Sandbox.binary("Roaming"), service],
        environment: [
          "HOME": home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
          "PGSERVICEFILE": String(cString: getenv("PGSERVICEFILE")),
        ], input: .typed, output: .read, errors: .file(errors))
    }

    func type(_ line: String) { program.type(line + "\n") }

    /// Waits until the last line that it printed is this one.
    func shows(_ line: String) -> Bool {
      for _ in 0..<6000 {
        if program.lines.last == line { return true }
        usleep(10_000)
      }
      return false
    }

    var printed: String { program.printed }

    /// Ends its input, as closing its window does.
    /// - Returns: what it said on standard error, and its exit code.
    func end() throws -> (String, Int32) {
      program.endInput()
      let exitCode = program.wait()
      return (String(decoding: try WholeFile.read(errors).bytes, as: UTF8.self), exitCode)
    }
  }

  @Test func settingsFollowTheirUser() throws {
    let server = try TrialServer.shared()
    try server.addUsers(["roaming"])
    let service = try server.service(for: "roaming")
    let homes = FileManager.default.temporaryDirectory.path + "/roaming-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: homes) }

    let first = try Machine(home: homes + "/1", service: service)
    let second = try Machine(home: homes + "/2", service: service)
    #expect(first.shows("(nothing set)"))
    first.type("colour=blue")
    #expect(second.shows("colour=blue"), "\(second.printed)")
    second.type("font=Mono")
    #expect(first.shows("colour=blue font=Mono"), "\(first.printed)")
    first.type("colour=")
    #expect(second.shows("font=Mono"), "\(second.printed)")
    // A machine that she never sat at.
    let third = try Machine(home: homes + "/3", service: service)
    #expect(third.shows("font=Mono"), "\(third.printed)")
    for machine in [first, second, third] { #expect(try machine.end() == ("", 0)) }
  }
}
