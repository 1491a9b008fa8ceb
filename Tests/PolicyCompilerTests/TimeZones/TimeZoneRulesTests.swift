import Glibc
import LinuxFiles
import TestPrograms
import Testing

@testable import PolicyCompiler

@Suite struct TimeZoneRulesTests {
  struct Reading: Sendable, CustomTestStringConvertible {
    let zone: String
    let instant: Int64
    let offset: Int32
    let abbreviation: String
    var testDescription: String { "\(zone) at \(instant)" }
  }

  static let readings: [Reading] = [
    // 2026-10-25: clocks go back at 01:00Z.
    .init(zone: "Europe/Berlin", instant: 1_792_889_999, offset: 7200, abbreviation: "CEST"),
    .init(zone: "Europe/Berlin", instant: 1_792_890_000, offset: 3600, abbreviation: "CET"),
    // Past any table: the footer's rule, 2099-07-01.
    .init(zone: "Europe/Berlin", instant: 4_086_547_200, offset: 7200, abbreviation: "CEST"),
    .init(zone: "America/New_York", instant: 1_772_953_199, offset: -18000, abbreviation: "EST"),
    .init(zone: "America/New_York", instant: 1_772_953_200, offset: -14400, abbreviation: "EDT"),
    .init(zone: "Asia/Kolkata", instant: 1_800_000_000, offset: 19800, abbreviation: "IST"),
    .init(zone: "Australia/Lord_Howe", instant: 1_800_000_000, offset: 39600, abbreviation: "+11"),
    .init(zone: "Australia/Lord_Howe", instant: 1_785_000_000, offset: 37800, abbreviation: "+1030"),
    .init(zone: "Pacific/Apia", instant: 1_325_239_199, offset: -36000, abbreviation: "-10"),
    .init(zone: "Pacific/Apia", instant: 1_325_239_200, offset: 50400, abbreviation: "+14"),
    .init(zone: "UTC", instant: -5_000_000_000, offset: 0, abbreviation: "UTC"),
    // Before the first transition: local mean time.
    .init(zone: "Europe/Berlin", instant: -5_000_000_000, offset: 3208, abbreviation: "LMT"),
  ]

  @Test(arguments: readings) func clocksShow(reading: Reading) throws {
    let type = try TimeZoneRules(named: reading.zone).type(at: reading.instant)
    #expect(type.offset == reading.offset)
    #expect(type.abbreviation == reading.abbreviation)
  }

  struct Wall: Sendable, CustomTestStringConvertible {
    let id: String
    let zone: String
    let date: (Int, Int, Int)
    let minute: Int
    let earliest: Int64
    let latest: Int64
    let skipped: Bool
    var testDescription: String { id }
  }

  static let walls: [Wall] = [
    .init(
      id: "Berlin, plain", zone: "Europe/Berlin", date: (2026, 12, 1), minute: 9 * 60, earliest: 1_796_112_000,
      latest: 1_796_112_000, skipped: false),
    .init(
      id: "Berlin, skipped", zone: "Europe/Berlin", date: (2026, 3, 29), minute: 150, earliest: 1_774_746_000,
      latest: 1_774_746_000, skipped: true),
    .init(
      id: "Berlin, first minute after the gap", zone: "Europe/Berlin", date: (2026, 3, 29), minute: 180,
      earliest: 1_774_746_000, latest: 1_774_746_000, skipped: false),
    .init(
      id: "Berlin, repeated", zone: "Europe/Berlin", date: (2026, 10, 25), minute: 150, earliest: 1_792_888_200,
      latest: 1_792_891_800, skipped: false),
    .init(
      id: "New York, repeated", zone: "America/New_York", date: (2026, 11, 1), minute: 90, earliest: 1_793_511_000,
      latest: 1_793_514_600, skipped: false),
    .init(
      id: "Lord Howe, half an hour repeated", zone: "Australia/Lord_Howe", date: (2026, 4, 5), minute: 105,
      earliest: 1_775_313_900, latest: 1_775_315_700, skipped: false),
    .init(
      id: "Lord Howe, half an hour skipped", zone: "Australia/Lord_Howe", date: (2026, 10, 4), minute: 135,
      earliest: 1_791_041_400, latest: 1_791_041_400, skipped: true),
    .init(
      id: "Apia, a day skipped", zone: "Pacific/Apia", date: (2011, 12, 30), minute: 720, earliest: 1_325_239_200,
      latest: 1_325_239_200, skipped: true),
    .init(
      id: "Kolkata", zone: "Asia/Kolkata", date: (2030, 6, 15), minute: 0, earliest: 1_907_692_200,
      latest: 1_907_692_200, skipped: false),
  ]

  @Test(arguments: walls) func wallClockTimes(wall: Wall) throws {
    let day = CivilDay.number(year: wall.date.0, month: wall.date.1, day: wall.date.2)
    let local = Int64(day * 86400 + wall.minute * 60)
    let clock = try TimeZoneRules(named: wall.zone).clock(covering: (local - 200_000)..<(local + 200_000))
    #expect(
      clock.moments(ofLocal: local)
        == .init(earliest: wall.earliest, latest: wall.latest, isSkipped: wall.skipped))
  }

  static let compared = [
    "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca",
    "America/St_Johns", "Asia/Gaza", "Antarctica/Troll", "America/Nuuk", "Europe/Dublin", "Pacific/Chatham", "EST5EDT",
    "Etc/GMT+12", "Asia/Kathmandu", "America/Caracas",
  ]

  /// glibc reads the same files with code of its own.
  @Test(arguments: compared) func agreesWithTheCLibrary(zone: String) throws {
    let rules = try TimeZoneRules(named: zone)
    // 1901 … 2120 in uneven steps, and every quarter of an hour around this decade's changes.
    var instants = stride(from: Int64(-2_100_000_000), to: 4_733_510_400, by: 977_777).map { $0 }
    let decade = rules.clock(covering: 1_767_225_600..<2_082_758_400)
    for segment in decade.segments.dropFirst() {
      instants += stride(from: segment.start - 7200, through: segment.start + 7200, by: 900)
      instants += [segment.start - 1, segment.start + 1]
    }
    let expected = try SystemClock.offsets(in: zone, at: instants)
    for (instant, offset) in zip(instants, expected) {
      #expect(Int(rules.type(at: instant).offset) == offset, "\(zone) at \(instant)")
    }
  }

  @Test(arguments: compared) func everyMomentIsFoundAgainFromItsLocalTime(zone: String) throws {
    let clock = try TimeZoneRules(named: zone).clock(covering: 1_735_689_600..<1_900_000_000)
    for instant in stride(from: Int64(1_740_000_000), to: 1_890_000_000, by: 1799) {
      let moments = clock.moments(ofLocal: clock.local(at: instant))
      #expect(!moments.isSkipped)
      #expect(moments.earliest == instant || moments.latest == instant)
    }
  }

  @Test(arguments: [
    "", "/etc/passwd", "../../etc/passwd", "Europe/../Europe/Berlin", "Europe//Berlin", "Europe/Berlin/", "right/UTC",
    "localtime", "posixrules", "Europe/Berlin\0", "Europe/Bérlin", "tzdata.zi", String(repeating: "a", count: 65),
  ])
  func malformedNames(name: String) {
    #expect(throws: TimeZoneError(zone: name, reason: .malformedName)) { try TimeZoneRules(named: name) }
  }

  @Test(arguments: ["Europe/Atlantis", "Europe", "UTC/UTC"]) func unknownZones(name: String) {
    let error = #expect(throws: TimeZoneError.self) { try TimeZoneRules(named: name) }
    #expect(
      error?.description
        == "time zone '\(name)' is not known on this system (its files come with the package tzdata)")
  }

  @Test func neitherTruncationNorAFlippedBitCrashes() throws {
    let bytes = try Self.file("Australia/Lord_Howe")
    for count in 0..<bytes.count {
      #expect(throws: TimeZoneError.self, "\(count) bytes") {
        try TimeZoneRules(named: "Lord_Howe", bytes: Array(bytes[..<count]))
      }
    }
    for position in bytes.indices {
      for bit in 0..<8 {
        var broken = bytes
        broken[position] ^= 1 << UInt8(bit)
        // Many flips give another sound table; then it must answer.
        if let rules = try? TimeZoneRules(named: "Lord_Howe", bytes: broken) {
          let clock = rules.clock(covering: 1_700_000_000..<1_800_000_000)
          _ = clock.moments(ofLocal: 1_750_000_000)
        }
      }
    }
  }

  @Test(arguments: [
    "", "CET", "CE-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
    "CET-1CEST,M3.5.0,M10.5.0/168", "CET-1CEST,M3.5.0,M10.5.0 ", "<+1-1", "CET-25", "CET-1:60", "CET-1CEST,J0,J365",
    "CET-1CEST,366,0", "CET-1CEST;M3.5.0;M10.5.0",
  ])
  func malformedFooters(text: String) { #expect(PosixTimeZone(Array(text.utf8)) == nil) }

  @Test func daylightTimeAllYear() throws {
    let zone = try #require(PosixTimeZone(Array("XXX3EDT4,0/0,J365/23".utf8)))
    let changes = zone.changes(around: 1_767_225_600..<1_767_225_601)
    // Each end is followed at once by the next start.
    for (end, start) in zip(changes.dropFirst(1), changes.dropFirst(2)) where !end.type.isDaylight {
      #expect(start.type.isDaylight && start.instant == end.instant)
    }
  }

  static func file(_ zone: String) throws -> [UInt8] {
    let file = try #require(fopen("/usr/share/zoneinfo/" + zone, "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
  }
}

/// The C library's reading of the zone files: `date` asks it.
private enum SystemClock {
  static func offsets(in zone: String, at instants: [Int64]) throws -> [Int] {
    var template = Array("/tmp/instants-XXXXXX".utf8CString)
    let file = mkstemp(&template)
    try #require(file >= 0)
    defer { close(file) }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    try AtomicReplacement.write(Array(instants.map { "@\($0)\n" }.joined().utf8), to: path, mode: 0o600)
    let date = try StartedProgram(
      ["date", "-f", path, "+%::z"], environment: ["TZ": ":" + zone, "PATH": "/usr/bin:/bin"], output: .read)
    let lines = date.all().split(separator: "\n")
    try #require(date.wait() == 0 && lines.count == instants.count)
    return try lines.map { line in
      let parts = try line.dropFirst().split(separator: ":").map { try #require(Int($0)) }
      return (line.first == "-" ? -1 : 1) * (parts[0] * 3600 + parts[1] * 60 + parts[2])
    }
  }
}
