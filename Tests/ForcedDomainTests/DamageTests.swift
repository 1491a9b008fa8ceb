import ForcedDomain
import PropertyList
import Testing

@Suite("Damage is found by its checksum, or changes nothing")
struct DamageTests {
  private func error(_ bytes: [UInt8]) -> String? {
    do throws(ForcedDomainError) {
      _ = try ForcedDomain(bytes: bytes, expecting: [.forced])
      return nil
    } catch {
      return error.description
    }
  }

  @Test func everyBit() throws {
    let good = try Sample.forced()
    var bytes = good
    for bit in 0..<(bytes.count * 8) {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(error(bytes) != nil, "bit \(bit) went unnoticed")
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    #expect(error(bytes) == nil)
  }

  @Test func everyTruncation() throws {
    let good = try Sample.forced()
    for count in 0..<good.count {
      let error = error(Array(good.prefix(count)))
      let expected =
        count < 192
        ? "no forced domain: \(count) bytes are shorter than a header"
        : "the forced domain is damaged: its header states \(good.count) bytes, the file has \(count)"
      #expect(error == expected)
    }
  }

  @Test func appendedBytes() throws {
    let good = try Sample.forced()
    #expect(
      error(good + [0])
        == "the forced domain is damaged: its header states \(good.count) bytes, the file has \(good.count + 1)")
  }

  @Test func zeroedTail() throws {
    var bytes = try Sample.forced()
    for index in bytes.indices.suffix(512) { bytes[index] = 0 }
    #expect(error(bytes) == "the forced domain is damaged: its checksum does not fit")
  }

  @Test func randomBytes() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...600, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(error(bytes) != nil)
    }
  }

  /// Random bytes behind a good header with a good checksum: only the structural checks stand in their way.
  @Test func randomContents() throws {
    var random = SeededGenerator(seed: 2)
    let good = try Sample.forced()
    for _ in 0..<2000 {
      var file = HostileFile(good)
      for index in 192..<good.count { file.bytes[index] = UInt8.random(in: 0...255, using: &random) }
      #expect(error(file.sealed()) != nil)
    }
  }

  /// Single bytes changed and the checksum mended: refused, or a file that answers every question.
  @Test func mendedMutations() throws {
    var random = SeededGenerator(seed: 3)
    let good = try Sample.forced()
    var accepted = 0
    for _ in 0..<4000 {
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
      if let domain = try? ForcedDomain(bytes: file.sealed(), expecting: .all) {
        accepted += 1
        _ = exercise(domain)
      }
    }
    // Scalars, ids and times may be anything: some mutations must get through, or this test tests nothing.
    #expect(accepted > 100)
  }
}

/// xorshift64*: the same numbers on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
