internal import CCrypto
import Digests

/// An Ed25519 public key (RFC 8032): says whether a bundle was sealed by its owner.
public struct VerificationKey: Hashable, Sendable {
  /// 32 bytes.
  public let rawBytes: [UInt8]

  /// Takes a raw key of 32 bytes.
  public init(rawBytes: [UInt8]) throws(KeyError) {
    guard rawBytes.count == KeyText.rawByteCount else { throw .notEd25519 }
    guard !Self.hasSmallOrder(rawBytes) else { throw .weak }
    self.rawBytes = rawBytes
  }

  /// Reads a PEM file's contents (`-----BEGIN PUBLIC KEY-----`).
  public init(pem: [UInt8]) throws(KeyError) {
    try self.init(rawBytes: KeyText.decode(pem, prefix: KeyText.publicPrefix, label: KeyText.publicLabel))
  }

  /// The contents of a PEM file.
  public var pem: [UInt8] {
    KeyText.encode(rawBytes, prefix: KeyText.publicPrefix, label: KeyText.publicLabel)
  }

  public var fingerprint: KeyFingerprint { KeyFingerprint(bytes: SHA256.digest(of: rawBytes)) }

  /// Whether `signature` (64 bytes) was made over `message` with the private half.
  public func isValid(_ signature: [UInt8], over message: [UInt8]) -> Bool {
    guard signature.count == SigningKey.signatureByteCount else { return false }
    guard let key = libcrypto.EVP_PKEY_new_raw_public_key(LIBCRYPTO_ED25519, nil, rawBytes, rawBytes.count) else {
      return false
    }
    defer { libcrypto.EVP_PKEY_free(key) }
    guard let context = libcrypto.EVP_MD_CTX_new() else { return false }
    defer { libcrypto.EVP_MD_CTX_free(context) }
    guard libcrypto.EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
    return libcrypto.EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  /// The encodings of the points whose order divides 8. Under such a key some signature fits every message, and libcrypto
  /// takes them; the list is that of libsodium's `ge25519_has_small_order` (the sign bit does not matter).
  static let smallOrderPoints: [[UInt8]] = {
    func filled(_ first: UInt8, _ middle: UInt8, _ last: UInt8) -> [UInt8] {
      [first] + [UInt8](repeating: middle, count: 30) + [last]
    }
    return [
      filled(0x00, 0x00, 0x00), filled(0x01, 0x00, 0x00), filled(0xEC, 0xFF, 0x7F), filled(0xED, 0xFF, 0x7F),
      filled(0xEE, 0xFF, 0x7F),
      [
        0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
        0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
      ],
      [
        0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
        0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
      ],
    ]
  }()

  private static func hasSmallOrder(_ raw: [UInt8]) -> Bool {
    var unsigned = raw
    unsigned[31] &= 0x7F
    return smallOrderPoints.contains(unsigned)
  }
}

/// SHA-256 of a raw public key: names the key in envelopes, messages and listings.
public struct KeyFingerprint: Hashable, Sendable, CustomStringConvertible {
  /// 32 bytes.
  public let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// 64 hexadecimal digits.
  public var description: String { HexText.encode(bytes) }

  /// The first 16 digits, for lines that people read.
  public var short: String { HexText.encode(bytes.prefix(8)) }
}
