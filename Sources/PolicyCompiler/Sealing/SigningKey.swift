internal import CCrypto
import Digests
import Glibc

/// An Ed25519 private key (RFC 8032), held by libcrypto, which wipes it when it goes.
public struct SigningKey: ~Copyable {
  private let key: OpaquePointer
  /// The public half.
  public let verificationKey: VerificationKey

  public static let signatureByteCount = 64

  /// Makes a new key from the system's randomness.
  public static func generate() -> SigningKey {
    // Fails only without randomness or memory, and then nothing may be signed.
    guard let context = libcrypto.EVP_PKEY_CTX_new_id(LIBCRYPTO_ED25519, nil) else {
      fatalError("libcrypto has no Ed25519")
    }
    defer { libcrypto.EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard libcrypto.EVP_PKEY_keygen_init(context) == 1, libcrypto.EVP_PKEY_keygen(context, &key) == 1, let key,
      let made = try? SigningKey(owning: key)
    else { fatalError("libcrypto can't make a key") }
    return made
  }

  /// Reads a PEM file's contents (`-----BEGIN PRIVATE KEY-----`, not encrypted).
  public init(pem: [UInt8]) throws(KeyError) {
    var seed = try KeyText.decode(pem, prefix: KeyText.privatePrefix, label: KeyText.privateLabel)
    defer { Self.wipe(&seed) }
    guard let key = libcrypto.EVP_PKEY_new_raw_private_key(LIBCRYPTO_ED25519, nil, seed, seed.count) else {
      throw .notEd25519
    }
    try self.init(owning: key)
  }

  private init(owning key: OpaquePointer) throws(KeyError) {
    self.key = key
    var raw = [UInt8](repeating: 0, count: KeyText.rawByteCount)
    var count = raw.count
    guard libcrypto.EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == raw.count else {
      fatalError("libcrypto does not give the public half")
    }
    verificationKey = try VerificationKey(rawBytes: raw)
  }

  deinit { libcrypto.EVP_PKEY_free(key) }

  /// The contents of a PEM file. Secret.
  public var pem: [UInt8] {
    var seed = [UInt8](repeating: 0, count: KeyText.rawByteCount)
    var count = seed.count
    guard libcrypto.EVP_PKEY_get_raw_private_key(key, &seed, &count) == 1, count == seed.count else {
      fatalError("libcrypto does not give the private half")
    }
    defer { Self.wipe(&seed) }
    return KeyText.encode(seed, prefix: KeyText.privatePrefix, label: KeyText.privateLabel)
  }

  private static func wipe(_ secret: inout [UInt8]) {
    secret.withUnsafeMutableBytes { bytes in
      if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    }
  }

  /// The signature over a message: 64 bytes, the same for the same message.
  public func signature(over message: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Self.signatureByteCount)
    var count = signature.count
    guard let context = libcrypto.EVP_MD_CTX_new() else { fatalError("libcrypto has no memory for a signature") }
    defer { libcrypto.EVP_MD_CTX_free(context) }
    guard libcrypto.EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
      libcrypto.EVP_DigestSign(context, &signature, &count, message, message.count) == 1, count == signature.count
    else { fatalError("libcrypto can't sign") }
    return signature
  }
}
