import ForcedDomain
import PropertyList
import Testing

/// One way to spoil a file whose checksum is then mended, and what the reader says about it.
struct HostileRow: Sendable, CustomTestStringConvertible {
  let id: String
  /// nil where it depends on the sample's size.
  let message: String?
  let spoil: @Sendable (inout HostileFile) -> Void
  var testDescription: String { id }

  init(_ id: String, _ message: String?, _ spoil: @escaping @Sendable (inout HostileFile) -> Void) {
    self.id = id
    self.message = message
    self.spoil = spoil
  }
}

@Suite("A file that lies under a good checksum is refused whole")
struct HostileTests {
  static let rows: [HostileRow] = [
    HostileRow("magic", "no forced domain: the first bytes are not its mark") { $0.bytes[0] ^= 1 },
    HostileRow("newer", "the forced domain needs a reader of version 2; this one is version 1") {
      $0.put(UInt16(2), at: 10)
    },
    HostileRow("version-0", "version 0 does not exist") { $0.put(UInt16(0), at: 8) },
    HostileRow("kind", "unknown kind 9") { $0.bytes[12] = 9 },
    HostileRow("digest-length", "a digest of 31 bytes") { $0.bytes[13] = 31 },
    HostileRow("digest-absent", "an absent digest has bytes") { $0.bytes[13] = 0 },
    HostileRow("reserved", "reserved bytes of the header are not zero") { $0.bytes[100] = 1 },
    HostileRow("horizon", "the horizon ends before it starts") { $0.put(Int64.max, at: 48) },
    HostileRow("host-name", "there is no text for the host's name") { $0.put(UInt32.max, at: 96) },
    HostileRow("key-count-4e9", nil) { $0.put(UInt32(4_000_000_000), at: 104 + SectionNumber.keys.rawValue * 4) },
    HostileRow("all-counts-max", nil) { file in
      for section in SectionNumber.allCases { file.put(UInt32.max, at: 104 + section.rawValue * 4) }
    },
    HostileRow("padding", "padding between sections is not zero") { file in
      let end = file.offset(.texts) + file.count(.texts)
      precondition(end % 8 != 0)
      file.bytes[end] = 1
    },
    HostileRow("text-utf8", "a text is no UTF-8") { $0.bytes[$0.offset(.texts)] = 0xFF },
    HostileRow("text-0", "text 0 is not empty") { $0.put(UInt32(1), at: $0.offset(.textEnds)) },
    HostileRow("text-length-max", "ends of texts do not ascend") { $0.put(UInt32.max, at: $0.offset(.textEnds, 1)) },
    HostileRow("text-descends", "ends of texts do not ascend") { $0.put(UInt32(0), at: $0.offset(.textEnds, 3)) },
    HostileRow("text-short", nil) { file in
      let last = file.count(.textEnds) - 1
      file.put(file.word4(file.offset(.textEnds, last - 1)), at: file.offset(.textEnds, last))
    },
    HostileRow("text-cut", "a text is cut inside a character") { file in
      let texts = file.offset(.texts)
      let inside = (0..<file.count(.texts)).first { file.bytes[texts + $0] & 0xC0 == 0x80 }!
      let text = (0..<file.count(.textEnds)).first { Int(file.word4(file.offset(.textEnds, $0))) > inside }!
      file.put(UInt32(inside), at: file.offset(.textEnds, text))
    },
    HostileRow("profile-text", "there is no text 4294967295") { $0.put(UInt32.max, at: $0.offset(.profiles)) },
    HostileRow("profile-owner", "a world-readable file names an owner") {
      $0.put(UInt32(1), at: $0.offset(.profiles) + 8)
    },
    HostileRow("user-group-end", "ends of user groups do not ascend") {
      $0.put(UInt32.max, at: $0.offset(.userGroups) + 8)
    },
    HostileRow("user-group-name", "there is no text 4000000") {
      $0.put(UInt32(4_000_000), at: $0.offset(.userGroupItems))
    },
    HostileRow("resolved-flag", "a user is neither resolved nor not") {
      $0.put(UInt32(2), at: $0.offset(.resolvedUsers) + 8)
    },
    HostileRow("condition-0", "condition 0 is not 'always'") { $0.put(UInt64(1), at: $0.offset(.conditions) + 24) },
    HostileRow("condition-flags", "unknown parts of a condition") {
      $0.put(UInt32(8), at: $0.offset(.conditions, 1))
    },
    HostileRow("condition-within-itself", "a condition stands within one that can't be around it") {
      $0.put(UInt32(6 | 1 << 8), at: $0.offset(.conditions, 1))
    },
    HostileRow("condition-within-a-later-one", "a condition stands within one that can't be around it") {
      $0.put(UInt32(6 | 2 << 8), at: $0.offset(.conditions, 1))
    },
    HostileRow("condition-within-nothing", "a condition stands within one that can't be around it") {
      $0.put(UInt32(6 | 0xFFFF_FF00), at: $0.offset(.conditions, 1))
    },
    HostileRow("condition-hosts", "a narrowed file asks for the host") {
      $0.put(UInt32(7), at: $0.offset(.conditions, 1))
    },
    HostileRow("condition-users-hidden", "a condition has atoms of a part that it has not") {
      $0.put(UInt32(4), at: $0.offset(.conditions, 1))
    },
    HostileRow("condition-atoms", "ends of atoms do not ascend") {
      $0.put(UInt32.max, at: $0.offset(.conditions, 1) + 16)
    },
    HostileRow("condition-windows", "ends of windows do not ascend") {
      $0.put(UInt32.max, at: $0.offset(.conditions, 1) + 20)
    },
    HostileRow("condition-time", "a condition that does not expire has a time") {
      $0.put(Int64(5), at: $0.offset(.conditions, 2) + 24)
    },
    HostileRow("atom-kind", "unknown kind of user item") { $0.put(UInt32(77), at: $0.offset(.atoms)) },
    HostileRow("atom-host-kind", "unknown kind of user item") { $0.put(UInt32(1), at: $0.offset(.atoms)) },
    HostileRow("atom-group", "there is no user group 9") { $0.put(UInt32(9), at: $0.offset(.atoms) + 4) },
    HostileRow("atom-name", "there is no text 4294967295") { $0.put(UInt32.max, at: $0.offset(.atoms, 1) + 4) },
    HostileRow("atom-name-unresolved", "a user's name has no row among the resolved users") {
      $0.put(UInt32(1), at: $0.offset(.atoms, 1) + 4)
    },
    HostileRow("window-days", "a window with unknown days or bounds") { $0.bytes[$0.offset(.windows)] = 0xFF },
    HostileRow("window-minute", "a window outside the day") { $0.put(UInt16(1441), at: $0.offset(.windows) + 6) },
    HostileRow("window-zone", "there is no text 4294967295") { $0.put(UInt32.max, at: $0.offset(.windows) + 16) },
    HostileRow("window-bound", "an unbounded window has a bound") { $0.put(UInt32(1), at: $0.offset(.windows) + 12) },
    HostileRow("window-intervals", "ends of intervals do not ascend") {
      $0.put(UInt32.max, at: $0.offset(.windows) + 24)
    },
    HostileRow("intervals-descend", "intervals of a window do not ascend within the horizon") {
      $0.put(Int64(0), at: $0.offset(.intervals, 1))
    },
    HostileRow("intervals-overlap", "intervals of a window do not ascend within the horizon") {
      $0.put(Int64(1_100_050), at: $0.offset(.intervals, 1))
    },
    HostileRow("interval-empty", "intervals of a window do not ascend within the horizon") {
      $0.put(Int64(1_100_000), at: $0.offset(.intervals) + 8)
    },
    HostileRow("interval-past-horizon", "intervals of a window do not ascend within the horizon") {
      $0.put(Int64.max, at: $0.offset(.intervals, 1) + 8)
    },
    HostileRow("key-utf8", "a key is no UTF-8") { $0.bytes[$0.offset(.keyNames)] = 0xC0 },
    HostileRow("domains-unsorted", "domains are not in order") { file in
      let (a, b) = (file.word4(file.offset(.domains, 0)), file.word4(file.offset(.domains, 1)))
      file.put(b, at: file.offset(.domains, 0))
      file.put(a, at: file.offset(.domains, 1))
    },
    HostileRow("domain-twice", "domains are not in order") { file in
      file.put(file.word4(file.offset(.domains, 0)), at: file.offset(.domains, 1))
    },
    HostileRow("domain-empty", "ends of domains do not ascend") { $0.put(UInt32(0), at: $0.offset(.domains) + 4) },
    HostileRow("domain-keys-max", "ends of domains do not ascend") {
      $0.put(UInt32.max, at: $0.offset(.domains) + 4)
    },
    HostileRow("keys-lost", "keys or entries belong to no domain") { file in
      file.put(file.word4(file.offset(.domains, 1) + 4) - 1, at: file.offset(.domains, 1) + 4)
    },
    HostileRow("keys-unsorted", "keys are not in order") { $0.bytes[$0.offset(.keyNames) + 14] = 0x7F },
    HostileRow("key-end-max", "ends of keys do not ascend") { $0.put(UInt32.max, at: $0.offset(.keys, 1)) },
    HostileRow("key-entries-max", "ends of entries do not ascend") {
      $0.put(UInt32.max, at: $0.offset(.keys, 1) + 4)
    },
    HostileRow("key-entries-overlap", "ends of entries do not ascend") {
      $0.put(UInt32(0), at: $0.offset(.keys, 1) + 8)
    },
    HostileRow("key-without-entries", "ends of entries do not ascend") { file in
      let before = file.word4(file.offset(.keys, 0) + 8)
      file.put(before, at: file.offset(.keys, 1) + 4)
      file.put(before, at: file.offset(.keys, 1) + 8)
    },
    HostileRow("index-key", "the index names a key that is not there") { $0.put(UInt32.max, at: $0.offset(.index)) },
    HostileRow("index-emptied", "the index names 9 of 10 keys") { file in
      let slot = (0..<file.count(.index)).first { file.word4(file.offset(.index, $0)) != 0 }!
      file.put(UInt32(0), at: file.offset(.index, slot))
    },
    HostileRow("index-twice", nil) { file in
      let slots = (0..<file.count(.index)).filter { file.word4(file.offset(.index, $0)) != 0 }
      file.put(file.word4(file.offset(.index, slots[0])), at: file.offset(.index, slots[1]))
    },
    HostileRow("index-full", "the index names 16 of 10 keys") { file in
      for slot in 0..<file.count(.index) { file.put(UInt32(1), at: file.offset(.index, slot)) }
    },
    HostileRow("string-utf8", "a string is no UTF-8") { $0.bytes[$0.offset(.strings)] = 0xED },
    HostileRow("string-offset-file-size", "a string runs over the end") { file in
      file.put(UInt32(file.bytes.count), at: file.firstEntry(tag: 1) + 8)
    },
    HostileRow("string-length-max", "a string runs over the end") {
      $0.put(UInt32.max, at: $0.firstEntry(tag: 1) + 12)
    },
    HostileRow("string-both-max", "a string runs over the end") { $0.put(UInt64.max, at: $0.firstEntry(tag: 1) + 8) },
    HostileRow("string-cut", "a string is cut inside a character") { file in
      let at = file.firstEntry(tag: 1) + 12
      file.put(file.word4(at) - 1, at: at)
    },
    HostileRow("entry-section", "an entry in the wrong section") { $0.bytes[$0.offset(.entries) + 24] = 1 },
    HostileRow("entry-action", "an unknown action") { $0.bytes[$0.offset(.entries) + 25] = 0 },
    HostileRow("entry-rank", "an unknown rank") { $0.bytes[$0.offset(.entries) + 26] = 3 },
    HostileRow("entry-unused", "an unknown rank") { $0.bytes[$0.offset(.entries) + 31] = 1 },
    HostileRow("entry-condition", "there is no condition 4294967295") {
      $0.put(UInt32.max, at: $0.offset(.entries) + 16)
    },
    HostileRow("entry-profile", "there is no profile 2") { $0.put(UInt32(2), at: $0.offset(.entries) + 20) },
    HostileRow("entry-rank-order", "entries are not in rank order") { $0.put(Int64.min, at: $0.offset(.entries, 1)) },
    HostileRow("entry-tag", "a value of the unknown type 10") { $0.bytes[$0.offset(.entries, 1) + 27] = 10 },
    HostileRow("entry-null", "an absent value has bits") { $0.bytes[$0.firstEntry(tag: 1) + 27] = 0 },
    HostileRow("entry-boolean", "a boolean that is neither") { $0.put(UInt64(2), at: $0.firstEntry(tag: 4) + 8) },
    HostileRow("entry-large-integer", "a large integer that is small") {
      $0.put(UInt64(1), at: $0.firstEntry(tag: 9) + 8)
    },
    HostileRow("release-with-value", "a release with a value, or of a recommendation") {
      $0.bytes[$0.firstEntry(tag: 0) + 27] = 4
    },
    HostileRow("release-becomes-replace", "an entry without a value") { $0.bytes[$0.firstEntry(tag: 0) + 25] = 1 },
    HostileRow("union-of-string", "a union of what has no elements") { $0.bytes[$0.firstEntry(tag: 1) + 25] = 2 },
    HostileRow("union-type-clash", "a union of values of different types") { file in
      // The second entry of Extensions gives the dictionary of AppleLanguages.
      let dictionary = file.firstEntry(tag: 8)
      let second = file.firstEntry(tag: 7) + 32
      for index in 8..<16 { file.bytes[second + index] = file.bytes[dictionary + index] }
      file.bytes[second + 27] = 8
    },
    HostileRow("value-offset-file-size", "a value starts where none does") { file in
      file.put(UInt32(file.bytes.count), at: file.firstEntry(tag: 7) + 8)
    },
    HostileRow("value-offset-inside", "a value starts where none does") { file in
      let at = file.firstEntry(tag: 8) + 8
      file.put(file.word4(at) + 8, at: at)
    },
    HostileRow("value-length", "a value is of another type or length than its entry says") {
      $0.put(UInt32.max, at: $0.firstEntry(tag: 7) + 12)
    },
    HostileRow("value-other-type", "a value is of another type or length than its entry says") {
      $0.bytes[$0.firstEntry(tag: 6) + 27] = 8
    },
    HostileRow("coded-top-level-scalar", "a stored value is neither data nor a container") {
      $0.bytes[$0.offset(.values)] = 4
    },
    HostileRow("coded-length-max", "a value runs over the end") { $0.put(UInt32.max, at: $0.offset(.values) + 1) },
    HostileRow("coded-array-count-4e9", "a container counts more elements than it has room for") {
      $0.put(UInt32(4_000_000_000), at: $0.value(ofEntryWithTag: 7) + 5)
    },
    HostileRow("coded-array-count-less", "an array is longer than its elements") {
      $0.put(UInt32(1), at: $0.value(ofEntryWithTag: 7) + 5)
    },
    HostileRow("coded-array-count-more", "a value is missing") {
      $0.put(UInt32(3), at: $0.value(ofEntryWithTag: 7) + 5)
    },
    HostileRow("coded-self-nesting", "a value runs over the end") { file in
      // The first element claims to be an array as long as the one that holds it.
      let at = file.value(ofEntryWithTag: 7)
      file.bytes[at + 9] = 7
      file.put(file.word4(at + 1), at: at + 10)
    },
    HostileRow("coded-unknown-tag", "a value of the unknown type 255") {
      $0.bytes[$0.value(ofEntryWithTag: 7) + 9] = 255
    },
    HostileRow("coded-dictionary-order", "keys of a dictionary are not in order") { file in
      file.bytes[file.value(ofEntryWithTag: 8) + 13] = 0x7F
      file.put(UInt16(0x2020), at: file.value(ofEntryWithTag: 8) + 14)
      let at = file.value(ofEntryWithTag: 8)
      // "é" becomes two spaces: below everything.
      let accent = (at..<file.bytes.count).first { file.bytes[$0] == 0xC3 && file.bytes[$0 + 1] == 0xA9 }!
      file.put(UInt16(0x2020), at: accent)
    },
    HostileRow("coded-string-utf8", "a string is no UTF-8") { $0.bytes[$0.value(ofEntryWithTag: 7) + 14] = 0x80 },
    HostileRow("coded-padding", "padding between values is not zero") { file in
      let at = file.value(ofEntryWithTag: 6)
      let end = at + 5 + Int(file.word4(at + 1))
      precondition(end % 8 != 0)
      file.bytes[end] = 1
    },
    HostileRow("annex-type", "a value of the unknown type 0") { $0.bytes[$0.offset(.annex)] = 0 },
    HostileRow("annex-array", nil) { $0.bytes[$0.offset(.annex)] = 7 },
  ]

  @Test(arguments: rows)
  func refused(_ row: HostileRow) throws {
    var file = HostileFile(try Sample.forced())
    row.spoil(&file)
    let error = #expect(throws: ForcedDomainError.self) {
      try ForcedDomain(bytes: file.sealed(), expecting: [.forced])
    }
    if let expected = row.message {
      switch error?.reason {
      case .damaged(let what): #expect(what == expected)
      default: #expect(error?.description == expected)
      }
    }
  }

  @Test func otherKind() throws {
    let bytes = try Sample.forced()
    let error = #expect(throws: ForcedDomainError.self) {
      try ForcedDomain(bytes: bytes, expecting: [.fleet, .provenance])
    }
    #expect(error?.reason == .unexpectedKind(.forced))
    #expect(error?.description == "a file of the kind 'forced' can't stand here")
  }

  @Test func tooDeep() throws {
    func nested(_ depth: Int, _ innermost: PropertyListValue = .array([])) -> PropertyListValue {
      (1..<depth).reduce(innermost) { value, _ in .array([value]) }
    }
    func file(_ innermost: PropertyListValue = .array([]), depth: Int = 64) throws(ForcedDomainError) -> [UInt8] {
      var writer = ForcedDomainWriter(kind: .forced)
      let value = writer.addValue(nested(depth, innermost))
      let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
      writer.addEntry(
        key: writer.addKey(domain: writer.addDomain("d"), key: "k"), section: .forced, action: .replace, rank: Rank(),
        condition: 0, profile: profile, value: value)
      return try writer.finish(FileStamp())
    }
    let deepest = try ForcedDomain(bytes: try file(), expecting: [.forced])
    let truth = deepest.truth(in: EvaluationContext(user: Sample.person, instant: 0))
    #expect(deepest.value(domain: "d", key: "k", section: .forced, under: truth) == nested(64))
    let error = #expect(throws: ForcedDomainError.self) { try file(depth: 65) }
    #expect(error?.description == "too large for a forced domain: a value nested more than 64 deep")

    // The same by hand: in the 64th array, four bytes of data become an empty array.
    var hostile = HostileFile(try file(.array([.data([0, 0, 0, 0])])))
    #expect(throws: Never.self) { try ForcedDomain(bytes: hostile.sealed(), expecting: [.forced]) }
    hostile.bytes[hostile.offset(.values) + 64 * 9] = 7
    let byHand = #expect(throws: ForcedDomainError.self) {
      try ForcedDomain(bytes: hostile.sealed(), expecting: [.forced])
    }
    #expect(byHand?.reason == .damaged("a value is nested more than 64 deep"))
  }
}

extension HostileFile {
  /// The offset of the first entry whose value has this tag.
  func firstEntry(tag: UInt8) -> Int {
    (0..<count(.entries)).map { offset(.entries, $0) }.first { bytes[$0 + 27] == tag }!
  }

  /// The offset of the coded value of that entry.
  func value(ofEntryWithTag tag: UInt8) -> Int { offset(.values) + Int(word4(firstEntry(tag: tag) + 8)) }
}
