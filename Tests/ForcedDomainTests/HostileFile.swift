import ForcedDomain

/// The format as a test knows it: sections in file order and the bytes of their records. Written down a second time on
/// purpose, so that a change of the format fails here.
enum SectionNumber: Int, CaseIterable {
  case texts, textEnds, profiles, hostGroups, hostPatterns, userGroups, userGroupItems, resolvedUsers, conditions
  case atoms, windows, intervals, keyNames, domains, keys, index, strings, values, entries, provenance, annex

  var stride: Int {
    [1, 4, 12, 8, 4, 20, 4, 12, 32, 8, 32, 16, 1, 8, 12, 4, 1, 1, 32, 24, 1][rawValue]
  }
}

/// A file that can be spoilt and sealed again, so that a reader's structural checks meet what the checksum would hide.
struct HostileFile {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func word4(_ offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) } }

  mutating func put<Word: FixedWidthInteger>(_ word: Word, at offset: Int) {
    for index in 0..<(Word.bitWidth / 8) {
      bytes[offset + index] = UInt8(truncatingIfNeeded: word >> Word(index * 8))
    }
  }

  func count(_ section: SectionNumber) -> Int { Int(word4(104 + section.rawValue * 4)) }

  func offset(_ section: SectionNumber, _ record: Int = 0) -> Int {
    var at = 192
    for earlier in SectionNumber.allCases.prefix(section.rawValue) {
      at = (at + count(earlier) * earlier.stride + 7) / 8 * 8
    }
    return at + record * section.stride
  }

  /// Puts the right length and checksum into the header.
  mutating func seal() {
    guard bytes.count >= 32 else { return }
    put(UInt64(bytes.count), at: 16)
    let sum = bytes.withUnsafeBytes { raw in
      ByteHash.hash(
        UnsafeRawBufferPointer(rebasing: raw[32...]),
        seed: ByteHash.hash(UnsafeRawBufferPointer(rebasing: raw[..<24]), seed: 0))
    }
    put(sum, at: 24)
  }

  func sealed() -> [UInt8] {
    var copy = self
    copy.seal()
    return copy.bytes
  }
}

/// Asks a domain everything that it can be asked. What it answers is folded into one number, so that two files can be
/// compared, and nothing is optimised away.
func exercise(_ domain: ForcedDomain) -> Int {
  var hasher = Hasher()
  hasher.combine(domain.generation)
  hasher.combine(domain.hostName)
  hasher.combine(domain.horizonFault(at: Sample.duringWindow))
  hasher.combine(domain.profiles)
  hasher.combine(domain.hostGroups)
  hasher.combine(domain.userGroups)
  hasher.combine(domain.resolvedUsers)
  hasher.combine(domain.conditions)
  for index in domain.conditions.indices { hasher.combine(domain.intervals(ofCondition: index)) }
  hasher.combine(domain.annex)
  domain.forEachEntry { entry in
    hasher.combine(entry.value?.decoded())
    hasher.combine(entry.provenance)
    hasher.combine(domain.domainName(entry.domain))
  }
  let contexts = [
    EvaluationContext(user: Sample.students, instant: Sample.duringWindow),
    EvaluationContext(
      host: HostIdentity(name: "lab-a-03.example.org"), user: UserFacts(name: "s2"), instant: .max),
    EvaluationContext(user: Sample.root, instant: .min),
  ]
  for context in contexts {
    let truth = domain.truth(in: context)
    hasher.combine(truth.nextEdge)
    for name in domain.domains {
      for section in PolicySection.allCases {
        domain.forEachResolvedKey(inDomain: name, section: section, under: truth) { key, value in
          hasher.combine(bytes: key)
          hasher.combine(value.value)
        }
        for key in domain.keys(inDomain: name) {
          hasher.combine(domain.resolve(domain: name, key: key, section: section, under: truth))
          hasher.combine(domain.entries(domain: name, key: key, section: section))
        }
      }
    }
  }
  return hasher.finalize()
}
