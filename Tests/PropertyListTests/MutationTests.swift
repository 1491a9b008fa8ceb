import PropertyList
import Testing

/// A bounded run of what `Scripts/fuzz plist` does at length: valid files with a few bytes changed, seeded, so that a
/// failure comes back at each run.
@Suite("Mutations")
struct MutationTests {
  @Test("a decoder refuses, or what it read can be written and read again", arguments: PropertyListFormat.allCases)
  func mutated(_ format: PropertyListFormat) throws {
    var random = SplitMix64(seed: 2026)
    let seeds = Samples.all.compactMap { try? PropertyListCoding.encode($0, as: format) }
    #expect(seeds.count > 10)
    var accepted = 0
    var failures: [[UInt8]] = []
    for round in 0..<3_000 {
      var bytes = seeds[round % seeds.count]
      for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, with: seeds, &random) }
      guard let value = try? PropertyListCoding.decode(bytes, as: format) else { continue }
      accepted += 1
      for target in PropertyListFormat.allCases {
        guard let written = try? PropertyListCoding.encode(value, as: target) else {
          if target != .xml && target != .json { failures.append(bytes) }
          continue
        }
        let again = try PropertyListCoding.decode(written, as: target)
        if target != .json, again != value { failures.append(bytes) }
        if try PropertyListCoding.encode(again, as: target) != written { failures.append(bytes) }
      }
    }
    #expect(failures.isEmpty)
    // The mutations must reach past the first check.
    #expect(accepted > 50)
  }

  private func mutate(_ bytes: inout [UInt8], with seeds: [[UInt8]], _ random: inout SplitMix64) {
    guard !bytes.isEmpty else { return }
    let position = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 2: bytes.remove(at: position)
    case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
    case 4: bytes.removeSubrange(position..<min(bytes.count, position + Int.random(in: 1...16, using: &random)))
    default:
      guard let other = seeds.randomElement(using: &random), !other.isEmpty else { return }
      let start = Int.random(in: 0..<other.count, using: &random)
      bytes.insert(contentsOf: other[start..<min(other.count, start + 16)], at: position)
    }
  }

  @Test("every bit of a small binary file")
  func everyBit() throws {
    let bytes = try PropertyListCoding.encode(Samples.types, as: .binary)
    for position in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[position] ^= 1 << bit
        guard let value = try? PropertyListCoding.decode(damaged, as: .binary) else { continue }
        #expect(try PropertyListCoding.decode(PropertyListCoding.encode(value, as: .binary)) == value)
      }
    }
    for length in bytes.indices {
      #expect(throws: PropertyListError.self) {
        try PropertyListCoding.decode(Array(bytes.prefix(length)), as: .binary)
      }
    }
  }
}
