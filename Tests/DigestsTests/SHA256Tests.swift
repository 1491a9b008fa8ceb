import Digests
import Testing

@Suite struct SHA256Tests {
  // FIPS 180-4's examples.
  static let rows: [(text: String, digest: String)] = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ]

  @Test(arguments: rows) func knownAnswers(row: (text: String, digest: String)) {
    #expect(HexText.encode(SHA256.digest(of: Array(row.text.utf8))) == row.digest)
  }

  @Test func piecesMakeTheWhole() {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    var hash = SHA256()
    for start in stride(from: 0, to: 1000, by: 37) { hash.update(Array(bytes[start..<min(start + 37, 1000)])) }
    #expect(hash.finish() == SHA256.digest(of: bytes))
  }

  @Test func numbersAreLittleEndian() {
    var hash = SHA256()
    hash.update(littleEndian: 0x0102)
    #expect(hash.finish() == SHA256.digest(of: [2, 1, 0, 0, 0, 0, 0, 0]))
  }
}
