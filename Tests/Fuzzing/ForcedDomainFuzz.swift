import ForcedDomain
import PropertyList

/// One execution of the fuzzer over the forced domain's reader; `Scripts/fuzz forced` builds and runs it.
///
/// The input is put behind a good mark, length and checksum, so that mutations meet the structural checks. A file may be
/// refused; one that is accepted must answer every question, and give one answer however it is asked.
@c(LLVMFuzzerTestOneInput) public func fuzzForcedDomain(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var bytes = Array(UnsafeBufferPointer(start: start, count: count))
  // As it came: most likely refused, but nothing else may happen.
  _ = try? ForcedDomain(bytes: bytes, expecting: .all)
  guard bytes.count >= 192 else { return 0 }
  seal(&bytes)
  guard let domain = try? ForcedDomain(bytes: bytes, expecting: .all) else { return 0 }
  askEverything(domain)
  return 0
}

private func seal(_ bytes: inout [UInt8]) {
  func put(_ word: UInt64, at offset: Int) {
    for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: word >> UInt64(index * 8)) }
  }
  for (index, byte) in "MPFORCED".utf8.enumerated() { bytes[index] = byte }
  put(UInt64(bytes.count), at: 16)
  let sum = bytes.withUnsafeBytes { raw in
    ByteHash.hash(
      UnsafeRawBufferPointer(rebasing: raw[32...]),
      seed: ByteHash.hash(UnsafeRawBufferPointer(rebasing: raw[..<24]), seed: 0))
  }
  put(sum, at: 24)
}

private func askEverything(_ domain: ForcedDomain) {
  _ = domain.profiles
  _ = domain.hostGroups
  _ = domain.userGroups
  _ = domain.resolvedUsers
  _ = domain.annex
  for index in domain.conditions.indices { _ = domain.intervals(ofCondition: index) }
  var entryCount = 0
  domain.forEachEntry { entry in
    entryCount += 1
    _ = entry.value?.decoded()
    _ = entry.provenance
    _ = domain.domainName(entry.domain)
  }
  precondition(entryCount == domain.entryCount, "entries were lost")
  let host = HostIdentity(name: "lab-a-03.example.org")
  _ = domain.conditionsPossible(on: host)
  let contexts = [
    EvaluationContext(user: UserFacts(userID: 1001, groupIDs: [2001]), instant: 1_100_050),
    EvaluationContext(host: host, user: UserFacts(name: "s2", inventoryGroups: ["students"]), instant: .max),
    EvaluationContext(host: host, user: UserFacts(userID: 0), instant: .min) { _, instant in
      WindowState(isOpen: true, nextEdge: instant)
    },
  ]
  for context in contexts {
    let truth = domain.truth(in: context)
    _ = domain.horizonFault(at: context.instant)
    if let edge = truth.nextEdge { precondition(edge > context.instant, "an edge in the past") }
    for name in domain.domains {
      let keys = domain.keys(inDomain: name)
      for section in PolicySection.allCases {
        var resolved: [[UInt8]: PropertyListValue] = [:]
        domain.forEachResolvedKey(inDomain: name, section: section, under: truth) { resolved[Array($0)] = $1.value }
        for key in keys {
          let resolution = domain.resolve(domain: name, key: key, section: section, under: truth)
          precondition(resolution.value == resolved[Array(key.utf8)], "two answers to one question")
          precondition(
            resolution.value == domain.value(domain: name, key: key, section: section, under: truth),
            "two answers to one question")
          precondition(resolution.contributors.isEmpty == (resolution.value == nil), "a value from nowhere")
          precondition(resolution.candidates.filter(\.decides).allSatisfy(\.holds), "what does not hold decides")
        }
      }
    }
  }
}
