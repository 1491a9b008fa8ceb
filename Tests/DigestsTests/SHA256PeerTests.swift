import Testing

import struct Digests.SHA256

@testable import PreferencesCore

/// The small SHA-256 that applications carry, against libcrypto's.
@Suite struct SHA256PeerTests {
  @Test(arguments: 0..<260) func bothDigestsAreEqual(length: Int) {
    let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) }
    #expect(PreferencesCore.SHA256.digest(of: message) == SHA256.digest(of: message))
  }
}
