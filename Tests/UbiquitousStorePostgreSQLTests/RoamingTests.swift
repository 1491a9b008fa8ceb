import Foundation
import PostgreSQLServer
import Synchronization
import Testing
import UbiquitousStorePostgreSQL

/// Examples/Roaming as two machines: two processes with a home each, and one server.
@Suite(.enabled(if: TrialServer.isAvailable)) struct RoamingTests {
  /// The program on one machine.
  final class Machine: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let text = Mutex("")
    private let errors = Pipe()

    init(home: String, service: String) throws {
      try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
      let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      process.executableURL = URL(fileURLWithPath: runner).deletingLastPathComponent().appendingPathComponent("Roaming")
      process.arguments = [service]
      process.environment = [
        "HOME": home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        "PGSERVICEFILE": String(cString: getenv("PGSERVICEFILE")),
      ]
      process.standardInput = input
      process.standardOutput = output
      process.standardError = errors
      output.fileHandleForReading.readabilityHandler = { [self] handle in
        let bytes = handle.availableData
        text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      }
      try process.run()
    }

    func type(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// Waits until the last line that it printed is this one.
    func shows(_ line: String) -> Bool {
      let deadline = Date(timeIntervalSinceNow: 60)
      while Date() < deadline {
        if text.withLock({ $0.hasSuffix("\n" + line + "\n") || $0 == line + "\n" }) { return true }
        Thread.sleep(forTimeInterval: 0.01)
      }
      return false
    }

    var printed: String { text.withLock { $0 } }

    /// Ends its input, as closing its window does.
    /// - Returns: what it said on standard error, and its exit code.
    func end() -> (String, Int32) {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
      output.fileHandleForReading.readabilityHandler = nil
      let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      return (said, process.terminationStatus)
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
    for machine in [first, second, third] { #expect(machine.end() == ("", 0)) }
  }
}
