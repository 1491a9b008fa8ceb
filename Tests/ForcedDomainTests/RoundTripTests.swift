import ForcedDomain
import PropertyList
import Testing

@Suite("A file gives back what was written")
struct RoundTripTests {
  @Test func header() throws {
    let bytes = try Sample.forced()
    let domain = try ForcedDomain(bytes: bytes, expecting: [.forced])
    #expect(domain.kind == .forced)
    #expect(domain.generation == 7)
    #expect(domain.serial == 42)
    #expect(domain.sourceDigest == (0..<32).map { UInt8($0) })
    #expect(domain.hostName == "lab-a-03")
    #expect(domain.horizon == Sample.horizon)
    #expect(domain.byteCount == bytes.count)
    #expect(domain.keyCount == 10)
    #expect(domain.entryCount == 14)
    #expect(domain.minimumReaderVersion == 1)
  }

  @Test func tables() throws {
    let domain = try ForcedDomain(bytes: try Sample.forced(), expecting: [.forced])
    #expect(domain.domains == ["NSGlobalDomain", "org.example.Browser"])
    #expect(
      domain.keys(inDomain: "org.example.Browser") == [
        "AllowNetwork", "Blob", "Extensions", "FontSize", "HomePage", "Huge", "Retries", "Since", "Zoom",
      ])
    #expect(domain.keys(inDomain: "org.example.Browse") == [])
    #expect(
      domain.profiles == [
        ProfileReference(id: "org.example.exam", title: "Exam mode"),
        ProfileReference(id: "org.example.base", title: "Baseline — überall"),
      ])
    #expect(domain.userGroups.map(\.name) == ["students", "teachers"])
    #expect(domain.userGroups[0].names == ["s1", "s2"])
    #expect(domain.userGroups[0].unixGroups == ["students"])
    #expect(domain.userGroups[0].userIDs == [1001])
    #expect(domain.userGroups[0].groupIDs == [2001])
    #expect(domain.resolvedUsers.map(\.userID) == [1001, nil, 1500])
    #expect(domain.conditions.count == 3)
    #expect(domain.conditions[0] == .always)
    #expect(domain.conditions[1].windows == [Sample.window])
    #expect(domain.conditions[1].notAfter == 1_900_000)
    #expect(
      domain.conditions[1].users
        == UserSelector(include: [.group("students"), .name("s2")], exclude: [.group("teachers")]))
    #expect(domain.intervals(ofCondition: 1) == [Sample.intervals])
    #expect(domain.annex == .dictionary(["containers": .array([.string("org.example.Editor")])]))
  }

  @Test(arguments: [
    ("HomePage", PropertyListValue.string("https://exam.example.org/ü")), ("Zoom", .real(1.25)),
    ("Retries", .integer(-3)), ("Huge", .integer(PropertyListInteger(UInt64.max))),
    ("Since", .date(PropertyListDate(secondsSinceReferenceDate: 0.5))), ("Blob", .data([0, 1, 255, 7])),
    ("Extensions", .array([.string("a"), .string("b"), .integer(1)])), ("FontSize", .integer(12)),
    ("AllowNetwork", .boolean(true)),
  ])
  func values(key: String, value: PropertyListValue) throws {
    let domain = try ForcedDomain(bytes: try Sample.forced(), expecting: [.forced])
    let truth = domain.truth(in: EvaluationContext(user: Sample.person, instant: Sample.duringWindow))
    #expect(domain.resolve(domain: "org.example.Browser", key: key, section: .forced, under: truth).value == value)
    #expect(domain.value(domain: "org.example.Browser", key: key, section: .forced, under: truth) == value)
    var found: PropertyListValue?
    domain.forEachResolvedKey(inDomain: "org.example.Browser", section: .forced, under: truth) { name, resolved in
      if String(decoding: name, as: UTF8.self) == key { found = resolved.value }
    }
    #expect(found == value)
  }
}
