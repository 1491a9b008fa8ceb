internal import CCrypto

/// SHA-256 (FIPS 180-4) over bytes that come piece by piece: digests of sources, payloads and log lines,
/// fingerprints of keys.
public struct SHA256: ~Copyable {
  private let context: OpaquePointer

  /// The length of a digest in bytes.
  public static let byteCount = 32

  public init() {
    // Either call fails only without memory.
    guard let context = libcrypto.EVP_MD_CTX_new(),
      libcrypto.EVP_DigestInit_ex(context, libcrypto.EVP_sha256(), nil) == 1
    else {
      fatalError("libcrypto has no memory for SHA-256")
    }
    self.context = context
  }

  deinit { libcrypto.EVP_MD_CTX_free(context) }

  /// Appends bytes.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard libcrypto.EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { fatalError("SHA-256 failed") }
  }

  /// Appends bytes.
  public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  /// Appends a text's UTF-8.
  public mutating func update(_ text: String) {
    var text = text
    text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
  }

  /// Appends a number as eight bytes, little-endian: lengths between parts, so that parts can't be shifted.
  public mutating func update(littleEndian number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { update($0) }
  }

  /// The digest of everything appended: 32 bytes.
  public consuming func finish() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      guard libcrypto.EVP_DigestFinal_ex(context, buffer.baseAddress, nil) == 1 else { fatalError("SHA-256 failed") }
      count = Self.byteCount
    }
  }

  /// Digests many pieces, one after the other, without a context for each: half the cost for pieces of a line's length.
  ///
  /// - Parameter digest: 32 bytes, for the result.
  public func digest(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) {
    precondition(digest.count >= Self.byteCount)
    let result = digest.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
    let isDone: Bool
    if let begin = libcrypto.SHA256_Init, let add = libcrypto.SHA256_Update, let end = libcrypto.SHA256_Final {
      isDone = withUnsafeTemporaryAllocation(byteCount: SHA256_CONTEXT_BYTES, alignment: 16) { memory in
        let context = memory.baseAddress.unsafelyUnwrapped
        return begin(context) == 1 && add(context, bytes.baseAddress, bytes.count) == 1 && end(result, context) == 1
      }
    } else {
      isDone =
        libcrypto.EVP_DigestInit_ex(context, nil, nil) == 1
        && libcrypto.EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
        && libcrypto.EVP_DigestFinal_ex(context, result, nil) == 1
    }
    guard isDone else { fatalError("SHA-256 failed") }
  }

  /// The digest of one piece.
  public static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finish()
  }
}
