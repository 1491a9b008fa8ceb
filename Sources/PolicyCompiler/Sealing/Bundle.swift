import Digests

/// The envelope around a payload: which sources it was compiled from, in which order bundles follow each other, and who
/// vouches for it.
///
/// All numbers little-endian; the payload follows the header, and nothing follows the payload:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 8 | magic `MPBUNDLE` |
/// | 8 | 4 | version, 1 |
/// | 12 | 4 | signature kind: 0 none, 1 Ed25519 |
/// | 16 | 8 | serial number |
/// | 24 | 8 | length of the payload |
/// | 32 | 32 | SHA-256 of the normalised sources |
/// | 64 | 32 | SHA-256 of the payload |
/// | 96 | 32 | fingerprint of the key; zeros without signature |
/// | 128 | 64 | signature; zeros without |
///
/// The signature covers the domain-separation text `Bundle.signatureDomain` and the bytes 8–95 with the signature's
/// fields left out: version, serial, length, both digests.
public struct Bundle: Hashable, Sendable {
  public struct Signature: Hashable, Sendable {
    public let signer: KeyFingerprint
    /// 64 bytes.
    public let bytes: [UInt8]
  }

  /// Grows with each bundle; milliseconds of the time of making unless told otherwise.
  public let serial: UInt64
  /// SHA-256 of the normalised sources, 32 bytes.
  public let sourceDigest: [UInt8]
  /// A forced domain of the kind `fleet`.
  public let payload: [UInt8]
  /// SHA-256 of `payload`.
  public let payloadDigest: [UInt8]
  public let signature: Signature?

  static let magic = Array("MPBUNDLE".utf8)
  static let version: UInt32 = 1
  static let headerByteCount = 192
  /// The largest payload that is read or written.
  public static let maximumPayloadByteCount = 256 << 20
  static let signatureDomain = "managed-preferences bundle signature\0"

  /// An unsigned bundle.
  /// - Precondition: `sourceDigest` has 32 bytes.
  public init(serial: UInt64, sourceDigest: [UInt8], payload: [UInt8]) {
    precondition(sourceDigest.count == SHA256.byteCount)
    self.serial = serial
    self.sourceDigest = sourceDigest
    self.payload = payload
    payloadDigest = SHA256.digest(of: payload)
    signature = nil
  }

  private init(_ bundle: Bundle, signature: Signature) {
    serial = bundle.serial
    sourceDigest = bundle.sourceDigest
    payload = bundle.payload
    payloadDigest = bundle.payloadDigest
    self.signature = signature
  }

  /// The same bundle, sealed with a key.
  public func signed(with key: borrowing SigningKey) -> Bundle {
    Bundle(
      self,
      signature: Signature(
        signer: key.verificationKey.fingerprint, bytes: key.signature(over: signedMessage)))
  }

  /// Whether this bundle carries a signature by `key` that fits.
  public func isSigned(by key: VerificationKey) -> Bool {
    guard let signature, signature.signer == key.fingerprint else { return false }
    return key.isValid(signature.bytes, over: signedMessage)
  }

  /// Whether two bundles say the same, whoever signed them.
  public func hasSameContents(as other: Bundle) -> Bool {
    serial == other.serial && sourceDigest == other.sourceDigest && payloadDigest == other.payloadDigest
  }

  private var signedMessage: [UInt8] {
    Array(Self.signatureDomain.utf8) + littleEndian(Self.version) + littleEndian(serial)
      + littleEndian(UInt64(payload.count)) + sourceDigest + payloadDigest
  }

  /// The bundle as a file holds it.
  public func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerByteCount + payload.count)
    bytes += envelope
    bytes += payload
    return bytes
  }

  /// What stands in front of the payload in a file: 192 bytes with the serial number, the digests and the signature.
  public var envelope: [UInt8] {
    var bytes = Self.magic
    bytes += littleEndian(Self.version)
    bytes += littleEndian(UInt32(signature == nil ? 0 : 1))
    bytes += littleEndian(serial)
    bytes += littleEndian(UInt64(payload.count))
    bytes += sourceDigest
    bytes += payloadDigest
    bytes += signature?.signer.bytes ?? [UInt8](repeating: 0, count: SHA256.byteCount)
    bytes += signature?.bytes ?? [UInt8](repeating: 0, count: SigningKey.signatureByteCount)
    return bytes
  }

  /// Reads a file's contents. That they are sound says nothing about who made them: see `TrustStore`.
  public init(decoding bytes: [UInt8]) throws(BundleError) {
    guard bytes.starts(with: Self.magic) else {
      throw bytes.count < Self.magic.count ? .cutShort(at: bytes.count) : .notABundle
    }
    guard bytes.count >= Self.headerByteCount else { throw .cutShort(at: bytes.count) }
    let version = UInt32(truncatingIfNeeded: number(in: bytes, at: 8, byteCount: 4))
    guard version == Self.version else { throw .unknownVersion(version) }
    let kind = number(in: bytes, at: 12, byteCount: 4)
    let length = number(in: bytes, at: 24, byteCount: 8)
    guard length <= UInt64(Self.maximumPayloadByteCount) else { throw .tooLarge(length) }
    let end = Self.headerByteCount + Int(length)
    guard bytes.count >= end else { throw .cutShort(at: bytes.count) }
    guard bytes.count == end else { throw .trailingBytes(at: end) }
    let signatureFields = bytes[96..<Self.headerByteCount]
    switch kind {
    case 0:
      guard signatureFields.allSatisfy({ $0 == 0 }) else { throw .damaged("it says unsigned, but has a signature") }
      signature = nil
    case 1:
      signature = Signature(signer: KeyFingerprint(bytes: Array(bytes[96..<128])), bytes: Array(bytes[128..<192]))
    default: throw .damaged("its kind of signature (\(kind)) is unknown")
    }
    serial = number(in: bytes, at: 16, byteCount: 8)
    sourceDigest = Array(bytes[32..<64])
    payloadDigest = Array(bytes[64..<96])
    payload = Array(bytes[Self.headerByteCount...])
    guard SHA256.digest(of: payload) == payloadDigest else { throw .damaged("its payload does not fit its digest") }
  }
}

/// Why bytes are no bundle.
public enum BundleError: Error, Hashable, Sendable, CustomStringConvertible {
  case notABundle
  case cutShort(at: Int)
  case trailingBytes(at: Int)
  case unknownVersion(UInt32)
  case tooLarge(UInt64)
  case damaged(String)

  public var description: String {
    switch self {
    case .notABundle: "it is not a bundle of policies (policyctl compile makes one)"
    case .cutShort(let count): "the bundle is cut short after \(count) bytes"
    case .trailingBytes(let offset): "something follows the bundle's end, from byte \(offset)"
    case .unknownVersion(let version): "the bundle has version \(version); this program reads version \(Bundle.version)"
    case .tooLarge(let count):
      "the bundle states a payload of \(count) bytes; the limit is \(Bundle.maximumPayloadByteCount)"
    case .damaged(let what): "the bundle is damaged: \(what)"
    }
  }
}

private func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  withUnsafeBytes(of: number.littleEndian) { Array($0) }
}

/// The little-endian number at an offset whose bytes are there.
private func number(in bytes: [UInt8], at offset: Int, byteCount: Int) -> UInt64 {
  bytes[offset..<(offset + byteCount)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
}
