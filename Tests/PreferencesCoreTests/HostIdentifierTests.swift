import Foundation
import TestPrograms
import Testing

@testable import PreferencesCore

@Suite struct HostIdentifierTests {
  private static func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

  /// FIPS 180-4's examples, and lengths around the padding's edges (their digests from sha256sum).
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
  ])
  func digests(message: String, expected: String) {
    #expect(Self.hex(SHA256.digest(of: Array(message.utf8))) == expected)
  }

  @Test func aMillionBytes() {
    // FIPS 180-4's third example.
    #expect(
      Self.hex(SHA256.digest(of: [UInt8](repeating: 0x61, count: 1_000_000)))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// RFC 4231, cases 1, 2 and 6 (a key longer than a block).
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func authenticationCodes(key: [UInt8], message: String, expected: String) {
    #expect(Self.hex(SHA256.authenticationCode(of: Array(message.utf8), key: key)) == expected)
  }

  @Test func aMachineIDIsRead() {
    let text = "000102030405060708090a0b0c0d0eFF"
    let id: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]
    #expect(HostIdentifier.machineID(in: Array("\(text)\n".utf8)) == id)
    #expect(HostIdentifier.machineID(in: Array(text.utf8)) == id)
    let refused = [
      "", "\n", "uninitialized\n", text + "0", "+0" + text.dropFirst(2), String(repeating: "0", count: 32),
    ]
    for text in refused { #expect(HostIdentifier.machineID(in: Array(text.utf8)) == nil, "\(text)") }
  }

  @Test func theIdentifierIsSystemdsForOurApplication() {
    // Of machine-id 0001…0f, computed with Python's hmac.
    #expect(HostIdentifier.derived(fromMachineID: (0..<16).map { UInt8($0) }) == "1b0a109a59404b71826d48c9f9d47e90")
    let current = HostIdentifier.current()
    #expect(current.wholeMatch(of: /[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}/) != nil)
    #expect(current == HostIdentifier.current())
  }

  /// Says visibly that it did not ask systemd where there is none.
  @Test func systemdPrintsTheSame() throws {
    let tool = "/usr/bin/systemd-id128"
    guard FileManager.default.isExecutableFile(atPath: tool) else {
      print("SKIPPED: no systemd-id128 to compare with")
      return
    }
    let program = try StartedProgram(
      [tool, "machine-id", "--app-specific=a85c260794674711ae0a6993effeb8c3"], output: .read, errors: .nothing)
    let text = program.all()
    guard program.wait() == 0 else {
      print("SKIPPED: systemd-id128 knows no machine id here")
      return
    }
    #expect(text == HostIdentifier.current() + "\n")
  }

  @Test func withoutAMachineIDTheHostNameCounts() {
    let a = HostIdentifier.derived(fromHostName: "lab-a-03")
    #expect(a == "5e53f7bcc5d04da48ebb6bf8518c66d3")
    #expect(a != HostIdentifier.derived(fromHostName: "lab-a-04"))
    #expect(HostIdentifier.derived(fromHostName: "").count == 32)
  }
}
