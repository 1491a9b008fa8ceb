import Digests
import Testing

@testable import PolicyCompiler

@Suite struct KeyTests {
  /// RFC 8032 §7.1, TEST 2.
  static let seed: [UInt8] = hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
  static let publicKey: [UInt8] = hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
  static let signature: [UInt8] = hex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
      + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
  static let message: [UInt8] = [0x72]

  static func hex(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text[...]
    while rest.count >= 2 {
      bytes.append(UInt8(rest.prefix(2), radix: 16)!)
      rest.removeFirst(2)
    }
    return bytes
  }

  static func key(seed: [UInt8]) throws -> SigningKey {
    try SigningKey(pem: KeyText.encode(seed, prefix: KeyText.privatePrefix, label: KeyText.privateLabel))
  }

  @Test func signsAsTheStandardSays() throws {
    let key = try Self.key(seed: Self.seed)
    #expect(key.verificationKey.rawBytes == Self.publicKey)
    #expect(key.signature(over: Self.message) == Self.signature)
    #expect(key.verificationKey.isValid(Self.signature, over: Self.message))
  }

  @Test func pemIsWhatOpenSSLWrites() throws {
    let key = try Self.key(seed: Self.seed)
    #expect(
      String(decoding: key.pem, as: UTF8.self) == """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7
        -----END PRIVATE KEY-----

        """)
    #expect(
      String(decoding: key.verificationKey.pem, as: UTF8.self) == """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=
        -----END PUBLIC KEY-----

        """)
    #expect(try VerificationKey(pem: key.verificationKey.pem) == key.verificationKey)
  }

  @Test func everyChangedBitIsRefused() throws {
    let key = try VerificationKey(rawBytes: Self.publicKey)
    for bit in 0..<(64 * 8) {
      var signature = Self.signature
      signature[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!key.isValid(signature, over: Self.message), "bit \(bit) of the signature")
    }
    for bit in 0..<256 {
      var raw = Self.publicKey
      raw[bit / 8] ^= 1 << UInt8(bit % 8)
      if let other = try? VerificationKey(rawBytes: raw) {
        #expect(!other.isValid(Self.signature, over: Self.message), "bit \(bit) of the key")
      }
    }
    for bit in 0..<8 { #expect(!key.isValid(Self.signature, over: [0x72 ^ 1 << UInt8(bit)])) }
    #expect(!key.isValid([], over: Self.message))
    #expect(!key.isValid(Array(Self.signature.dropLast()), over: Self.message))
    #expect(!key.isValid(Self.signature + [0], over: Self.message))
  }

  @Test func generatedKeysDiffer() {
    let a = SigningKey.generate()
    let b = SigningKey.generate()
    #expect(a.verificationKey != b.verificationKey)
    #expect(b.verificationKey.isValid(b.signature(over: Self.message), over: Self.message))
    #expect(!a.verificationKey.isValid(b.signature(over: Self.message), over: Self.message))
  }

  @Test func fingerprintIsTheDigestOfTheRawKey() throws {
    let key = try VerificationKey(rawBytes: Self.publicKey)
    #expect(key.fingerprint.description == HexText.encode(SHA256.digest(of: Self.publicKey)))
    #expect(key.fingerprint.short.count == 16)
  }

  @Test(arguments: VerificationKey.smallOrderPoints) func weakKeysAreRefused(point: [UInt8]) {
    var negative = point
    negative[31] |= 0x80
    for raw in [point, negative] {
      #expect(throws: KeyError.weak) { try VerificationKey(rawBytes: raw) }
    }
  }

  struct Text: Sendable, CustomTestStringConvertible {
    let id: String
    let text: String
    let error: KeyError
    var testDescription: String { id }
  }

  static let body = "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="
  static let texts: [Text] = [
    Text(id: "nothing", text: "", error: .empty),
    Text(id: "white space", text: " \r\n\n", error: .empty),
    Text(id: "no frame", text: body, error: .notPEM(expected: "PUBLIC KEY")),
    Text(id: "a private key", text: framed("PRIVATE KEY", body), error: .notPEM(expected: "PUBLIC KEY")),
    Text(id: "text before", text: "x\n" + framed("PUBLIC KEY", body), error: .notPEM(expected: "PUBLIC KEY")),
    Text(
      id: "two keys", text: framed("PUBLIC KEY", body) + framed("PUBLIC KEY", body),
      error: .notPEM(expected: "PUBLIC KEY")),
    Text(id: "no base64", text: framed("PUBLIC KEY", "*" + body.dropFirst()), error: .notPEM(expected: "PUBLIC KEY")),
    Text(
      id: "loose bits in the padding", text: framed("PUBLIC KEY", body.dropLast(2) + "x="),
      error: .notPEM(expected: "PUBLIC KEY")),
    Text(
      id: "X25519", text: framed("PUBLIC KEY", "MCowBQYDK2VuAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="),
      error: .notEd25519),
    Text(id: "cut short", text: framed("PUBLIC KEY", "MCowBQYDK2VwAyEA"), error: .notEd25519),
  ]

  static func framed(_ label: String, _ body: some StringProtocol) -> String {
    "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
  }

  @Test(arguments: texts) func malformedTexts(row: Text) {
    #expect(throws: row.error) { try VerificationKey(pem: Array(row.text.utf8)) }
  }

  @Test func lineEndsOfWindowsAreRead() throws {
    let text = Self.framed("PUBLIC KEY", Self.body).split(separator: "\n").map { $0 + "\r\n" }.joined()
    #expect(try VerificationKey(pem: Array(text.utf8)).rawBytes == Self.publicKey)
  }

  @Test(arguments: [
    ("lab-2026", true), ("a", true), ("", false), (".hidden", false), ("-x", false), ("a/b", false), ("ä", false),
  ])
  func keyNames(name: String, isWellFormed: Bool) { #expect(KeyName.isWellFormed(name) == isWellFormed) }
}
