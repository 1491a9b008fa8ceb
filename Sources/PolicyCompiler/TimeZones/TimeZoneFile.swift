/// What a zone's clocks show during some span: how far they are from UTC, and what that is called.
public struct LocalTimeType: Hashable, Sendable {
  /// Seconds to add to UTC, positive east of Greenwich.
  public let offset: Int32
  public let isDaylight: Bool
  /// `CET`, `CEST`, `+1030` …; what the zone's file says, for people only.
  public let abbreviation: String
}

/// A TZif file (RFC 8536), version 2 or later, read as if it were hostile: every count and index is checked.
struct TimeZoneFile {
  /// Moments of change in UTC, strictly ascending.
  let transitions: [Int64]
  /// The type that begins at the transition of the same index.
  let types: [LocalTimeType]
  /// The type before the first transition.
  let initialType: LocalTimeType
  /// The rule past the table; nil where the last type simply stays.
  let footer: PosixTimeZone?

  struct Damage: Error { let reason: String }

  init(_ bytes: [UInt8]) throws(Damage) {
    var input = Input(bytes: bytes)
    let first = try Header(&input)
    guard first.version >= UInt8(ascii: "2") else { throw Damage(reason: "version 1 has no 64-bit times") }
    try input.skip(first.bodySize(timeSize: 4))
    let header = try Header(&input)
    guard header.version == first.version else { throw Damage(reason: "its two headers differ in version") }
    guard header.leapCount == 0 else { throw Damage(reason: "it counts leap seconds; Unix time does not") }
    guard header.typeCount >= 1, header.characterCount >= 1 else { throw Damage(reason: "it has no local time type") }
    // The whole table must be there before anything is allocated for it.
    guard header.bodySize(timeSize: 8) <= input.remaining else { throw Damage(reason: "it is cut short") }

    var transitions: [Int64] = []
    transitions.reserveCapacity(header.timeCount)
    for _ in 0..<header.timeCount {
      let instant = Int64(bitPattern: try input.integer(8))
      if let last = transitions.last, instant <= last { throw Damage(reason: "its transitions do not ascend") }
      // What comes before the big bang (RFC 8536 §3.2) or overflows with an offset is no moment of a policy.
      guard abs(instant / 2) < 1 << 60 else { throw Damage(reason: "a transition is out of range") }
      transitions.append(instant)
    }
    var indices: [Int] = []
    for _ in 0..<header.timeCount { indices.append(Int(try input.integer(1))) }
    var rows: [(offset: Int32, isDaylight: UInt64, name: Int)] = []
    for _ in 0..<header.typeCount {
      let offset = Int32(truncatingIfNeeded: try input.integer(4))
      guard offset > -93600 && offset < 93600 else { throw Damage(reason: "an offset is out of range") }
      rows.append((offset, try input.integer(1), Int(try input.integer(1))))
    }
    let characters = try input.take(header.characterCount)
    var local: [LocalTimeType] = []
    for row in rows {
      guard row.isDaylight <= 1 else { throw Damage(reason: "a daylight mark is neither 0 nor 1") }
      guard row.name < characters.count, let end = characters[(characters.startIndex + row.name)...].firstIndex(of: 0)
      else { throw Damage(reason: "an abbreviation is out of bounds") }
      let name = characters[(characters.startIndex + row.name)..<end]
      guard name.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
        throw Damage(reason: "an abbreviation is not ASCII")
      }
      local.append(
        LocalTimeType(
          offset: row.offset, isDaylight: row.isDaylight == 1, abbreviation: String(decoding: name, as: UTF8.self)))
    }
    guard indices.allSatisfy({ $0 < local.count }) else { throw Damage(reason: "a type index is out of bounds") }
    try input.skip(header.standardCount + header.utcCount)

    guard try input.integer(1) == 0x0A else { throw Damage(reason: "its footer is missing") }
    let rest = try input.take(input.remaining)
    guard let end = rest.firstIndex(of: 0x0A) else { throw Damage(reason: "its footer is cut short") }
    if rest.startIndex == end {
      footer = nil
    } else {
      guard let rule = PosixTimeZone(rest[..<end]) else { throw Damage(reason: "its footer is not a POSIX rule") }
      footer = rule
    }
    self.transitions = transitions
    types = indices.map { local[$0] }
    initialType = local[0]
  }

  private struct Header {
    let version: UInt8
    let utcCount, standardCount, leapCount, timeCount, typeCount, characterCount: Int

    init(_ input: inout Input) throws(Damage) {
      guard try input.take(4).elementsEqual("TZif".utf8) else { throw Damage(reason: "it does not begin with TZif") }
      version = UInt8(try input.integer(1))
      try input.skip(15)
      utcCount = Int(try input.integer(4))
      standardCount = Int(try input.integer(4))
      leapCount = Int(try input.integer(4))
      timeCount = Int(try input.integer(4))
      typeCount = Int(try input.integer(4))
      characterCount = Int(try input.integer(4))
    }

    // Counts are below 2^32, so the sum stays far from overflow.
    func bodySize(timeSize: Int) -> Int {
      timeCount * (timeSize + 1) + typeCount * 6 + characterCount + leapCount * (timeSize + 4) + standardCount
        + utcCount
    }
  }

  private struct Input {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    mutating func take(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
      guard count <= remaining else { throw Damage(reason: "it is cut short") }
      defer { position += count }
      return bytes[position..<(position + count)]
    }

    mutating func skip(_ count: Int) throws(Damage) { _ = try take(count) }

    /// A big-endian integer of `count` bytes.
    mutating func integer(_ count: Int) throws(Damage) -> UInt64 {
      try take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}
