import ForcedDomain
import PropertyList
import Testing

@Suite("The writer lays out canonically")
struct WriterTests {
  @Test func orderOfAddingDoesNotMatter() throws {
    func file(_ order: [Int]) throws -> [UInt8] {
      var writer = ForcedDomainWriter(kind: .fleet)
      let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
      let names = ["NSGlobalDomain", "org.example.Editor", "org.example.A"]
      for name in names { _ = writer.addText(name) }
      for index in order {
        let key = writer.addKey(domain: writer.addDomain(names[index % 3]), key: "key\(index / 3)")
        writer.addEntry(
          key: key, section: index % 2 == 0 ? .forced : .recommended, action: .replace,
          rank: Rank(priority: Int64(index)), condition: 0, profile: profile, value: .integer(Int64(index)),
          provenance: ProvenanceReference(file: 1, line: UInt32(index), column: 1))
      }
      return try writer.finish(FileStamp())
    }
    var random = SeededGenerator(seed: 9)
    let order = Array(0..<60)
    let expected = try file(order)
    for _ in 0..<10 { #expect(try file(order.shuffled(using: &random)) == expected) }
  }

  @Test func keysWithCommonBeginningsAreSorted() throws {
    var writer = ForcedDomainWriter(kind: .forced)
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
    let domain = writer.addDomain("d")
    let keys = [
      "prefix", "prefixB", "prefixA\u{0}", "prefixA", "prefixÄ", "prefixlonglonglongB", "prefixlonglonglongA",
    ]
    for key in keys {
      writer.addEntry(
        key: writer.addKey(domain: domain, key: key), section: .forced, action: .replace, rank: Rank(), condition: 0,
        profile: profile, value: .boolean(true))
    }
    let file = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.forced])
    #expect(
      file.keys(inDomain: "d") == [
        "prefix", "prefixA", "prefixA\u{0}", "prefixB", "prefixlonglonglongA", "prefixlonglonglongB", "prefixÄ",
      ])
  }

  @Test func spellingsOfOneCharacterAreTwoKeys() throws {
    var writer = ForcedDomainWriter(kind: .forced)
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
    let domain = writer.addDomain("d")
    for (index, key) in ["\u{e9}", "e\u{301}"].enumerated() {
      writer.addEntry(
        key: writer.addKey(domain: domain, key: key), section: .forced, action: .replace, rank: Rank(), condition: 0,
        profile: profile, value: .integer(Int64(index)))
    }
    let file = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.forced])
    let truth = file.truth(in: EvaluationContext(user: Sample.person, instant: 0))
    #expect(file.keyCount == 2)
    #expect(file.value(domain: "d", key: "\u{e9}", section: .forced, under: truth) == .integer(0))
    #expect(file.value(domain: "d", key: "e\u{301}", section: .forced, under: truth) == .integer(1))
  }

  @Test func keysWithoutEntriesAreLeftOut() throws {
    var writer = ForcedDomainWriter(kind: .forced)
    _ = writer.addKey(domain: writer.addDomain("empty"), key: "k")
    let file = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.forced])
    #expect(file.domains == [])
    #expect(file.keyCount == 0)
    let truth = file.truth(in: EvaluationContext(user: Sample.person, instant: 0))
    #expect(file.value(domain: "empty", key: "k", section: .forced, under: truth) == nil)
  }

  @Test func equalityOfValues() {
    var writer = ForcedDomainWriter(kind: .forced)
    let values: [PropertyListValue] = [
      .boolean(true), .integer(1), .real(1), .string("1"), .string("\u{e9}"), .string("e\u{301}"), .data([1]),
      .array([.integer(1)]), .array([.real(1)]), .dictionary(["a": .integer(1)]), .real(0), .real(-0.0),
      .date(PropertyListDate(secondsSinceReferenceDate: 1)),
    ]
    let first = values.map { writer.addValue($0) }
    let second = values.map { writer.addValue($0) }
    for a in values.indices {
      for b in values.indices { #expect(writer.areEqual(first[a], second[b]) == (a == b)) }
    }
  }

  @Test func whatAReaderWouldRefuseIsNotWritten() throws {
    func error(_ build: (inout ForcedDomainWriter) -> Void) -> String? {
      var writer = ForcedDomainWriter(kind: .forced)
      build(&writer)
      do throws(ForcedDomainError) {
        _ = try writer.finish(FileStamp())
        return nil
      } catch {
        if case .damaged(let what) = error.reason { return what }
        return error.description
      }
    }
    #expect(
      error { _ = $0.addCondition(Condition(users: UserSelector(include: [.group("nobody")]))) }
        == "a condition names a group that is not defined")
    #expect(
      error { _ = $0.addCondition(Condition(users: UserSelector(include: [.name("s1")]))) }
        == "a user's name has no row among the resolved users")
    #expect(
      error { _ = $0.addCondition(Condition(hosts: HostSelector(include: [.pattern("lab")]))) }
        == "a narrowed file asks for the host")
    #expect(
      error { writer in
        let value = writer.addValue(.string("x"))
        let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
        writer.addEntry(
          key: writer.addKey(domain: writer.addDomain("d"), key: "k"), section: .forced, action: .union, rank: Rank(),
          condition: 0, profile: profile, value: value)
      } == "a union of what has no elements")
    #expect(
      error { _ = $0.addCondition(Condition(windows: [Sample.window]), intervals: [[0..<5]]) }
        == "intervals of a window do not ascend within the horizon")
  }

  /// What narrowing does: every entry of one file added to another, without decoding.
  @Test func entriesCanBeAddedAgain() throws {
    let original = try ForcedDomain(bytes: try Sample.forced(), expecting: [.forced])
    var writer = ForcedDomainWriter(kind: .forced)
    writer.setUserGroups(original.userGroups)
    writer.setResolvedUsers(original.resolvedUsers)
    if let annex = original.annex { writer.setAnnex(annex) }
    let profiles = original.profiles.map { writer.addProfile($0) }
    let conditions = original.conditions.enumerated().map { index, condition in
      writer.addCondition(condition, intervals: original.intervals(ofCondition: index))
    }
    original.forEachEntry { entry in
      let key = writer.addKey(domain: writer.addDomain(original.domainName(entry.domain)), key: entry.key)
      let value = entry.value.map { writer.addStored($0) }
      writer.addEntry(
        key: key, section: entry.section, action: entry.action, rank: entry.rank,
        condition: conditions[entry.condition], profile: profiles[entry.profile], value: value)
    }
    let copy = try ForcedDomain(bytes: try writer.finish(Sample.stamp), expecting: [.forced])
    #expect(exercise(copy) == exercise(original))
  }

  @Test func provenanceComesBack() throws {
    var writer = ForcedDomainWriter(kind: .provenance)
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P", owner: "lab-admins"))
    let provenance = ProvenanceReference(
      file: writer.addSourceFile("exam.yaml"), line: 21, column: 23, reason: writer.addText("projector machine"),
      ticket: writer.addText("LAB-142"))
    writer.addEntry(
      key: writer.addKey(domain: writer.addDomain("d"), key: "k"), section: .forced, action: .release, rank: Rank(),
      condition: 0, profile: profile, value: nil, provenance: provenance)
    let file = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.provenance])
    let entry = try #require(file.entries(domain: "d", key: "k", section: .forced).first)
    #expect(entry.profile.owner == "lab-admins")
    #expect(
      entry.provenance
        == Provenance(file: "exam.yaml", line: 21, column: 23, reason: "projector machine", ticket: "LAB-142"))
  }

  @Test func tenThousandKeys() throws {
    var writer = ForcedDomainWriter(kind: .forced)
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
    let domains = (0..<10).map { writer.addDomain("org.example.App\($0)") }
    for index in (0..<10_000).reversed() {
      writer.addEntry(
        key: writer.addKey(domain: domains[index % 10], key: "Key\(index)"), section: .forced, action: .replace,
        rank: Rank(), condition: 0, profile: profile, value: .integer(Int64(index)))
    }
    let file = try ForcedDomain(bytes: try writer.finish(FileStamp()), expecting: [.forced])
    #expect(file.keyCount == 10_000)
    let truth = file.truth(in: EvaluationContext(user: Sample.person, instant: 0))
    for index in stride(from: 0, to: 10_000, by: 7) {
      let domain = "org.example.App\(index % 10)"
      #expect(
        file.value(domain: domain, key: "Key\(index)", section: .forced, under: truth)
          == .integer(PropertyListInteger(index)))
      #expect(file.value(domain: domain, key: "key\(index)", section: .forced, under: truth) == nil)
    }
  }
}
