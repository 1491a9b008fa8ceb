import CommandSandbox
import Glibc
import LinuxFiles
import PropertyList
import Testing

/// Times on the command line: a moment or a day, in this machine's zone where nothing else is said.
@Suite struct InstantTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let moment: String
    var zone = "Europe/Berlin"
    var testDescription: String { "\(text), \(zone)" }
  }

  static let moments = [
    Row(text: "2026-12-01", moment: "2026-11-30T23:00:00Z"),
    Row(text: "2026-12-01 09:30", moment: "2026-12-01T08:30:00Z"),
    Row(text: "2026-12-01T09:30", moment: "2026-12-01T08:30:00Z"),
    Row(text: "2026-12-01t09:30:15", moment: "2026-12-01T08:30:15Z"),
    // A what-if is about the second.
    Row(text: "2026-12-01 09:30:15.75", moment: "2026-12-01T08:30:15Z"),
    Row(text: "2026-12-01T09:30:00Z", moment: "2026-12-01T09:30:00Z"),
    Row(text: "2026-12-01T09:30:00.5-05:00", moment: "2026-12-01T14:30:00Z"),
    Row(text: "2026-12-01 09:30 +0530", moment: "2026-12-01T04:00:00Z"),
    Row(text: "2026-12-01 09:30+02", moment: "2026-12-01T07:30:00Z"),
    Row(text: "2026-12-01 09:30 UTC", moment: "2026-12-01T09:30:00Z"),
    // As status and explain print times.
    Row(text: "2026-12-01 09:30 CET", moment: "2026-12-01T08:30:00Z"),
    Row(text: "2026-10-25 02:30 CEST", moment: "2026-10-25T00:30:00Z"),
    Row(text: "2026-10-25 02:30 CET", moment: "2026-10-25T01:30:00Z"),
    // Midnight is skipped, is there twice, or comes after a whole day that is skipped.
    Row(text: "2024-04-26", moment: "2024-04-25T22:00:00Z", zone: "Africa/Cairo"),
    Row(text: "2026-11-01", moment: "2026-11-01T04:00:00Z", zone: "America/Havana"),
    Row(text: "2011-12-31", moment: "2011-12-30T10:00:00Z", zone: "Pacific/Apia"),
  ]

  @Test(arguments: moments) func aTimeIsReadAsItIsMeant(_ row: Row) throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.execute(
      [Sandbox.binary, "--root", sandbox.root, "explain", "org.example.Editor", "K", "--at", row.text]
        + ["--format", "json"], environment: ["TZ": row.zone])
    #expect(try JSON(result.output)["context"]["at"].text == row.moment, "\(result.errors)")
  }

  static let faults: [(String, String, String)] = [
    ("2026-02-30", "Europe/Berlin", "is not a time"), ("2026-12-1", "Europe/Berlin", "is not a time"),
    ("2026-12-01 ", "Europe/Berlin", "is not a time"), ("2026-12-01T", "Europe/Berlin", "is not a time"),
    ("2026-12-01x", "Europe/Berlin", "is not a time"), ("2026-12-01 24:00", "Europe/Berlin", "is not a time"),
    ("2026-12-01 09:30 ", "Europe/Berlin", "is not a time"),
    ("2026-12-01 09:30+24:00", "Europe/Berlin", "is not a time"),
    ("2026-12-01 09:30 é", "Europe/Berlin", "is not a time"),
    ("0000-01-01", "Europe/Berlin", "does not exist in this time zone"),
    ("2026-12-01 09:30 CEST", "Europe/Berlin", "is not a time of this machine's zone, and has no offset"),
    ("2011-12-30", "Pacific/Apia", "does not exist in this time zone"),
  ]

  @Test(arguments: faults) func whatIsNoTimeIsRefusedWithExamples(_ text: String, _ zone: String, _ why: String) throws
  {
    let result = try Sandbox().runBare(["get", "D", "--at", text], environment: ["TZ": zone])
    #expect(result.exitCode == 64)
    #expect(
      result.errors
        == "policyctl get: --at '\(text)' \(why); write 2026-12-01, '2026-12-01 09:30' or 2026-12-01T09:30:00+01:00\nNext: policyctl get --help\n"
    )
  }

  /// A repeated hour that is no daylight saving time.
  @Test func anHourThatExistsTwiceNamesBoth() throws {
    let result = try Sandbox().runBare(
      ["get", "D", "--at", "2014-10-26 01:30"], environment: ["TZ": "Europe/Moscow"])
    #expect(
      result.errors
        == "policyctl get: --at '2014-10-26 01:30' exists twice in this time zone; write 2014-10-26T01:30:00+04:00 or 2014-10-26T01:30:00+03:00\nNext: policyctl get --help\n"
    )
  }

  /// A day as an end is whole, a moment as an end is exact, and whole seconds are taken outwards.
  @Test func anEndIsNotCutOff() throws {
    let sandbox = try HistoryReportTests.installed()
    func span(_ from: String, _ to: String) throws -> String {
      let result = sandbox.run("report", "--from", from, "--to", to, "--format", "json")
      let json = try JSON(result.output)
      return "\(json["from"].text) \(json["to"].text)"
    }
    #expect(try span("2025-12-01", "2025-12-01") == "2025-11-30T23:00:00Z 2025-12-01T23:00:00Z")
    #expect(try span("2025-12-01 09:00", "2025-12-01 10:30") == "2025-12-01T08:00:00Z 2025-12-01T09:30:00Z")
    #expect(
      try span("2025-12-01T09:00:00.75Z", "2025-12-01T10:30:00.25Z") == "2025-12-01T09:00:00Z 2025-12-01T10:30:01Z")
    func numbers(_ words: String...) throws -> [String] {
      let result = sandbox.execute(
        [Sandbox.binary, "--root", sandbox.root, "audit", "show", "--format", "json"] + words)
      return try JSON(result.output)["records"].elements.map { $0["seq"].text }
    }
    #expect(try numbers("--since", "2025-12-01", "--until", "2025-12-01").count == 11)
    #expect(try numbers("--until", "2025-11-30") == [])
    #expect(try numbers("--since", "2025-12-02") == [])
    #expect(try numbers("--until", "2025-12-01T06:00:00Z") == ["1", "2", "3"])
    #expect(try numbers("--until", "2025-12-01T06:00:00.001Z") == ["1", "2", "3", "4"])
    #expect(try numbers("--since", "2025-12-01T20:00:00.001Z") == [])
  }

  /// The day that is not over ends now.
  @Test func aDayThatIsNotOverEndsNow() throws {
    let sandbox = try Sandbox(applied: true)
    usleep(1_100_000)
    let today = sandbox.execute(["date", "+%F"]).output.prefix(10)
    let before = WallClock.unixSeconds()
    let result = sandbox.run("report", "--from", "2025-01-01", "--to", "\(today)", "--format", "json")
    let after = WallClock.unixSeconds()
    let end = try #require(PropertyListDate(rfc3339: JSON(result.output)["to"].text)).unixTime
    #expect(end >= Double(before) || "\(today)" != sandbox.execute(["date", "+%F"]).output.prefix(10))
    #expect(end <= Double(after))
  }
}
