import Testing

@testable import PolicyCompiler

@Suite struct BundleTests {
  static let digest = [UInt8](repeating: 0xAB, count: 32)
  static let payload = Array("the payload".utf8)

  static func bundle(serial: UInt64 = 1_764_500_000_000) -> Bundle {
    Bundle(serial: serial, sourceDigest: digest, payload: payload)
  }

  static let seed = [UInt8](repeating: 7, count: 32)

  @Test func unsignedAndSignedComeBack() throws {
    let unsigned = Self.bundle()
    #expect(try Bundle(decoding: unsigned.encoded()) == unsigned)
    let key = try KeyTests.key(seed: Self.seed)
    let signed = unsigned.signed(with: key)
    let read = try Bundle(decoding: signed.encoded())
    #expect(read == signed)
    #expect(read.isSigned(by: key.verificationKey))
    #expect(read.hasSameContents(as: unsigned))
    #expect(read.encoded().count == Bundle.headerByteCount + Self.payload.count)
  }

  @Test func theEmptyPayload() throws {
    let bundle = Bundle(serial: 0, sourceDigest: Self.digest, payload: [])
    #expect(try Bundle(decoding: bundle.encoded()) == bundle)
  }

  /// One flipped bit anywhere: a typed error, or a bundle that is no longer signed by the key.
  @Test func noFlippedBitKeepsTheSignature() throws {
    let key = try KeyTests.key(seed: Self.seed)
    let bytes = Self.bundle().signed(with: key).encoded()
    for bit in 0..<(bytes.count * 8) {
      var broken = bytes
      broken[bit / 8] ^= 1 << UInt8(bit % 8)
      do throws(BundleError) {
        let bundle = try Bundle(decoding: broken)
        #expect(!bundle.isSigned(by: key.verificationKey), "bit \(bit)")
      } catch {
        #expect(!error.description.isEmpty)
      }
    }
  }

  @Test func everyTruncationIsRefused() {
    let bytes = Self.bundle().encoded()
    for count in 0..<bytes.count {
      #expect(throws: BundleError.cutShort(at: count)) { try Bundle(decoding: Array(bytes[..<count])) }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let change: @Sendable (inout [UInt8]) -> Void
    let message: String
    var testDescription: String { id }
  }

  static let rows: [Row] = [
    Row(
      id: "text", change: { $0 = Array("version: 1\nkind: Profile\n".utf8) },
      message: "it is not a bundle of policies (policyctl compile makes one)"),
    Row(id: "version 2", change: { $0[8] = 2 }, message: "the bundle has version 2; this program reads version 1"),
    Row(id: "appended", change: { $0.append(0) }, message: "something follows the bundle's end, from byte 203"),
    Row(
      id: "huge", change: { $0[31] = 0x7F },
      message: "the bundle states a payload of 9151314442816847883 bytes; the limit is 268435456"),
    Row(
      id: "unsigned with a signature", change: { $0[130] = 1 },
      message: "the bundle is damaged: it says unsigned, but has a signature"),
    Row(
      id: "signature kind", change: { $0[12] = 2 },
      message: "the bundle is damaged: its kind of signature (2) is unknown"),
    Row(
      id: "payload", change: { $0[192] ^= 1 },
      message: "the bundle is damaged: its payload does not fit its digest"),
  ]

  @Test(arguments: rows) func malformed(row: Row) {
    var bytes = Self.bundle().encoded()
    row.change(&bytes)
    let error = #expect(throws: BundleError.self) { try Bundle(decoding: bytes) }
    #expect(error?.description == row.message)
  }

  // MARK: Trust

  static func store(_ seeds: [UInt8]...) throws -> TrustStore {
    var keys: [TrustedKey] = []
    for (index, seed) in seeds.enumerated() {
      keys.append(TrustedKey(name: "key\(index)", key: try KeyTests.key(seed: seed).verificationKey))
    }
    return TrustStore(keys: keys)
  }

  @Test func withoutTrustedKeysEverythingIsAccepted() throws {
    let store = TrustStore(keys: [])
    #expect(store.decide(on: Self.bundle()) == .noKeysToCheck)
    #expect(store.decide(on: Self.bundle().signed(with: try KeyTests.key(seed: Self.seed))) == .noKeysToCheck)
  }

  @Test func withTrustedKeysOnlyTheirSignaturesAre() throws {
    let other = [UInt8](repeating: 8, count: 32)
    let store = try Self.store(other, Self.seed)
    let key = try KeyTests.key(seed: Self.seed)
    let signed = Self.bundle().signed(with: key)
    for _ in 0..<100 {
      #expect(store.decide(on: signed) == .trusted(TrustedKey(name: "key1", key: key.verificationKey)))
    }
    #expect(store.decide(on: Self.bundle()) == .refused(.unsigned))
    let stranger = try KeyTests.key(seed: [UInt8](repeating: 9, count: 32))
    #expect(
      store.decide(on: Self.bundle().signed(with: stranger))
        == .refused(.unknownSigner(stranger.verificationKey.fingerprint)))
    // Signed for another serial number, and put into this envelope.
    let replayed = try Bundle(decoding: Self.replacing(serial: 9, in: signed.encoded()))
    #expect(store.decide(on: replayed) == .refused(.badSignature(by: "key1")))
  }

  static func replacing(serial: UInt64, in bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    withUnsafeBytes(of: serial.littleEndian) { bytes.replaceSubrange(16..<24, with: $0) }
    return bytes
  }

  // MARK: Serial numbers

  @Test func serialNumbersAreMillisecondsOfTheTimeOfMaking() throws {
    #expect(try SerialNumber.of(sourceDate: nil, now: 1_764_500_000_123) == 1_764_500_000_123)
    #expect(try SerialNumber.of(sourceDate: "1764500000", now: 5) == 1_764_500_000_000)
    for text in ["", "-1", "1.5", "now", "99999999999999999999", "1e9", " 1"] {
      #expect(throws: SerialNumber.MalformedSourceDate(text: text)) { try SerialNumber.of(sourceDate: text, now: 5) }
    }
  }
}
