import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import ForcedDomain

/// One key asked of a file that is not checked whole: nothing but what the whole check would answer, whatever is in it.
@Suite("One key")
struct OneKeyTests {
  /// A file of many parts with conditions, texts beyond ASCII and a second domain.
  static func large(keys: Int) throws -> [UInt8] {
    var writer = ForcedDomainWriter(kind: .forced)
    writer.setResolvedUsers([ResolvedUser(name: "s1", userID: 1001)])
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
    let student = writer.addCondition(Condition(users: UserSelector(include: [.name("s1")])))
    for (number, name) in ["org.example.Large", "org.example.Other"].enumerated() {
      let domain = writer.addDomain(name)
      for index in 0..<keys {
        let key = writer.addKey(domain: domain, key: "Schlüssel\(index)")
        func add(_ value: PropertyListValue, _ rank: Rank, _ condition: UInt32) {
          let reference = writer.addValue(value)
          writer.addEntry(
            key: key, section: index % 11 == 10 ? .recommended : .forced, action: .replace, rank: rank,
            condition: condition, profile: profile, value: reference)
        }
        switch (index + number) % 5 {
        case 0: add(.boolean(index % 2 == 0), Rank(), 0)
        case 1: add(.integer(PropertyListInteger(Int64(index))), Rank(), 0)
        case 2: add(.string("Wert \(index) — übrig"), Rank(), 0)
        case 3: add(.array([.integer(1)]), Rank(), 0)
        default:
          add(.string("for s1: \(index)"), Rank(priority: 9), student)
          if index % 2 == 0 { add(.real(Double(index)), Rank(), 0) }
        }
      }
    }
    return try writer.finish(Sample.stamp)
  }

  /// Puts a file in place, with a marker that vouches for it.
  static func install(_ bytes: [UInt8], in temporary: TemporaryInstallation) throws {
    try temporary.write(bytes, to: temporary.installation.forcedFile)
    let header = HostileFile(bytes)
    func word8(_ offset: Int) -> UInt64 { UInt64(header.word4(offset)) | UInt64(header.word4(offset + 4)) << 32 }
    try temporary.write(
      GenerationMarker(
        generation: word8(32), serial: 42, sourceDigest: [], hostName: "lab-a-03", installedAt: 5,
        forcedChecksum: word8(24)
      ).bytes, to: temporary.installation.generationMarker)
  }

  static func isScalar(_ value: PropertyListValue?) -> Bool {
    switch value {
    case .boolean, .integer, .real, .date, .string: true
    default: false
    }
  }

  @Test(arguments: [1, 40, 700, 3000]) func answersAsTheWholeFileDoes(keys: Int) throws {
    let temporary = try TemporaryInstallation()
    try Self.install(try Self.large(keys: keys), in: temporary)
    let loader = ForcedDomainLoader(temporary.installation)
    guard case .loaded(let file, let faults) = loader.load(), faults.isEmpty else {
      throw DomainFault(path: "", message: "not loaded")
    }
    for user in [Sample.students, Sample.person] {
      let context = EvaluationContext(user: user, instant: Sample.duringWindow)
      let truth = file.truth(in: context)
      for domain in ["org.example.Large", "org.example.Other", "org.example.None"] {
        for index in stride(from: 0, through: keys, by: max(1, keys / 60)) {
          let key = "Schlüssel\(index)"
          let value = file.value(domain: domain, key: key, section: .forced, under: truth)
          let answer = loader.forcedScalar(domain: domain, key: key, in: context)
          #expect(answer == (Self.isScalar(value) ? value : nil), "\(domain) \(key)")
        }
      }
    }
  }

  @Test func somethingOfEverything() throws {
    let temporary = try TemporaryInstallation()
    try Self.install(try Sample.forced(), in: temporary)
    let loader = ForcedDomainLoader(temporary.installation)
    func answer(_ key: String, _ user: UserFacts = Sample.person, domain: String = "org.example.Browser")
      -> PropertyListValue?
    {
      loader.forcedScalar(
        domain: domain, key: key, in: EvaluationContext(user: user, instant: Sample.duringWindow))
    }
    #expect(answer("AllowNetwork") == .boolean(true))
    #expect(answer("AllowNetwork", Sample.students) == .boolean(false))
    #expect(answer("HomePage") == .string("https://exam.example.org/ü"))
    #expect(answer("Zoom") == .real(1.25))
    #expect(answer("Zoom", Sample.root) == nil)
    #expect(answer("Retries") == .integer(-3))
    #expect(answer("Huge") == .integer(PropertyListInteger(UInt64.max)))
    #expect(answer("Since") == .date(PropertyListDate(secondsSinceReferenceDate: 0.5)))
    #expect(answer("FontSize") == .integer(12))
    #expect(answer("FontSize", Sample.students) == nil)
    for key in ["Blob", "Extensions", "Nothing", ""] { #expect(answer(key) == nil) }
    #expect(answer("AppleLanguages", domain: "NSGlobalDomain") == nil)
  }

  @Test func withoutAMarkerThatVouchesNothingIsTold() throws {
    let temporary = try TemporaryInstallation()
    let loader = ForcedDomainLoader(temporary.installation)
    let context = EvaluationContext(user: Sample.person, instant: 0)
    func answer() -> PropertyListValue? { loader.forcedScalar(domain: "d", key: "k", in: context) }
    #expect(answer() == nil)
    try temporary.install(generation: 3, mark: 3)
    #expect(answer() == .integer(3))
    // On its way in: `load` takes it, and says so itself.
    try temporary.write(
      try TemporaryInstallation.file(generation: 4, mark: 4), to: temporary.installation.forcedFile)
    #expect(answer() == nil)
    try temporary.write(
      try TemporaryInstallation.file(generation: 3, mark: 4), to: temporary.installation.forcedFile)
    #expect(answer() == nil)
    // A marker that names the file's checksum with another generation is not that file's.
    let other = try ForcedDomain(
      bytes: try TemporaryInstallation.file(generation: 3, mark: 4), expecting: .forced)
    try temporary.write(
      GenerationMarker(
        generation: 4, serial: 1, sourceDigest: [], hostName: "lab-a-03", installedAt: 5, forcedChecksum: other.checksum
      ).bytes, to: temporary.installation.generationMarker)
    #expect(answer() == nil)
    try temporary.install(generation: 5, mark: 5)
    chmod(temporary.installation.forcedFile, 0o666)
    #expect(answer() == nil)
    try temporary.install(generation: 5, mark: 5)
    unlink(temporary.installation.generationMarker)
    #expect(answer() == nil)
  }

  @Test func aByteThatChangedIsFoundWhereverItIs() throws {
    var random = SeededGenerator(seed: 11)
    let temporary = try TemporaryInstallation()
    let good = try Self.large(keys: 700)
    try Self.install(good, in: temporary)
    let loader = ForcedDomainLoader(temporary.installation)
    let context = EvaluationContext(user: Sample.person, instant: 0)
    func answer() -> PropertyListValue? {
      loader.forcedScalar(domain: "org.example.Large", key: "Schlüssel1", in: context)
    }
    #expect(answer() == .integer(1))
    for _ in 0..<300 {
      var bytes = good
      bytes[Int.random(in: 0..<good.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      try temporary.write(bytes, to: temporary.installation.forcedFile)
      #expect(answer() == nil)
    }
    for count in [0, 31, 32, 191, 192, good.count - 1] {
      try temporary.write(Array(good[..<count]), to: temporary.installation.forcedFile)
      #expect(answer() == nil)
    }
  }

  /// Files that root itself would have to forge, since the marker vouches for them: never a crash, and what is told is in
  /// force wherever the file is taken at all.
  @Test(arguments: [UInt64(1), 2, 3, 4]) func forgedFilesWhoseMarkerIsForgedToo(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let temporary = try TemporaryInstallation()
    let loader = ForcedDomainLoader(temporary.installation)
    let context = EvaluationContext(user: Sample.students, instant: Sample.duringWindow)
    let good = seed < 3 ? try Sample.forced() : try Self.large(keys: 40)
    let (domain, keys) =
      seed < 3
      ? ("org.example.Browser", ["AllowNetwork", "HomePage", "Zoom", "Retries", "FontSize", "Extensions"])
      : ("org.example.Large", (0..<10).map { "Schlüssel\($0)" })
    var told = 0
    for _ in 0..<250 {
      var file = HostileFile(good)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let at = Int.random(in: 8..<good.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: file.bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: file.bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default:
          let word: UInt32 = [0, 1, .max, UInt32(good.count), UInt32(good.count) + 1].randomElement(using: &random)!
          file.put(word, at: at & ~3)
        }
      }
      let bytes = file.sealed()
      try Self.install(bytes, in: temporary)
      let whole = try? ForcedDomain(bytes: bytes, expecting: [.forced])
      let truth = whole?.truth(in: context)
      for key in keys {
        guard let answer = loader.forcedScalar(domain: domain, key: key, in: context) else { continue }
        told += 1
        guard let whole, let truth else { continue }
        let value = whole.value(domain: domain, key: key, section: .forced, under: truth)
        // Not a number is not equal to itself.
        #expect("\(answer)" == value.map { "\($0)" })
      }
    }
    #expect(told > 50)
  }

  // MARK: Parts

  static let sizes = [
    192, 200, 4111, 4112, 4113, 8191, 8192, 8193, 32 + 16 * 4080 - 1, 32 + 16 * 4080, 32 + 17 * 4080 - 1,
    32 + 17 * 4080, 32 + 33 * 4080 + 48, 300_007,
  ]

  @Test(arguments: sizes) func partsHaveTheChecksumAndTheBytesOfTheWhole(size: Int) throws {
    var random = SeededGenerator(seed: UInt64(size))
    let temporary = try TemporaryInstallation()
    let path = temporary.installation.forcedFile
    let content = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    try temporary.write(content, to: path)
    guard var parts = CheckedParts(try FileDescriptor.open(path), count: size) else {
      Issue.record("not read")
      return
    }
    #expect(parts.checksum == content.withUnsafeBytes { Format.checksum(of: $0) })
    for _ in 0..<50 {
      let offset = Int.random(in: 0...size, using: &random)
      let length = Int.random(in: 0...min(size - offset, 9000), using: &random)
      let isThere = parts.require(offset, length)
      #expect(isThere)
      #expect(parts.bytes[offset..<(offset + length)].elementsEqual(content[offset..<(offset + length)]))
    }
    for (offset, length) in [(-1, 1), (0, -1), (0, size + 1), (size + 1, 0), (size, 1), (1, Int.max)] {
      let isThere = parts.require(offset, length)
      #expect(!isThere)
    }
    let isThere = parts.require(0, size)
    #expect(isThere && parts.bytes.elementsEqual(content))
  }

  @Test func aFileThatChangesAfterwardsIsNotBelieved() throws {
    var random = SeededGenerator(seed: 5)
    let size = 300_007
    let temporary = try TemporaryInstallation()
    let path = temporary.installation.forcedFile
    let content = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    for changed in [32, 4111, 4112, 100_000, 65_400, size - 1] {
      try temporary.write(content, to: path)
      guard var parts = CheckedParts(try FileDescriptor.open(path), count: size) else {
        Issue.record("not read")
        return
      }
      let file = open(path, O_WRONLY)
      defer { close(file) }
      #expect(pwrite(file, [content[changed] ^ 1], 1, off_t(changed)) == 1)
      let isThere = parts.require(changed, 1)
      #expect(!isThere)
      // Its neighbours, far enough away, are as they were.
      let far = changed < 150_000 ? 200_000 : 100_000
      let isFarThere = parts.require(far, 100)
      #expect(isFarThere && parts.bytes[far..<(far + 100)].elementsEqual(content[far..<(far + 100)]))
      #expect(ftruncate(file, 1000) == 0)
      let isGone = parts.require(far + 20_000, 1)
      #expect(!isGone)
    }
  }
}
