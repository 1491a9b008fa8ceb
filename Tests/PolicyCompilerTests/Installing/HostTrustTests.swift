import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PolicyCompiler

/// Keys on a host, and the files that decide.
@Suite struct HostTrustTests {
  static let fleetSeed = [UInt8](repeating: 3, count: 32)

  static func trustingHost() throws -> TestHost {
    let host = try TestHost().initialised()
    let path = host.root + "/fleet.pub"
    try AtomicReplacement.write(try KeyTests.key(seed: fleetSeed).verificationKey.pem, to: path, mode: 0o644)
    let trusted = try KeyFiles.trust(path, as: "lab-2026", on: host.installation)
    #expect(trusted.name == "lab-2026")
    try Directory.removeFile(path)
    return host
  }

  @Test func onlyTrustedSignaturesAreInstalled() throws {
    let host = try Self.trustingHost()
    let bundle = try TestPolicy(["A": 1]).bundle()
    let before = try host.contents()
    let unsigned = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "lab.bundle") }
    #expect(unsigned?.exitCode == 77)
    #expect(
      unsigned?.description
        == "lab.bundle: the bundle is not signed, and this host accepts only bundles signed by a trusted key")
    #expect(
      unsigned?.next == [
        "policyctl compile DIR -o lab.bundle --sign KEY", "policyctl --root \(host.root) key generate --local",
      ])
    var seed = Self.fleetSeed
    seed[0] ^= 1
    let stranger = try KeyTests.key(seed: seed)
    let unknown = InstallerTests.refusal {
      _ = try host.installer().install(bundle.signed(with: stranger), from: "lab.bundle")
    }
    #expect(unknown?.reason == .refused(.unknownSigner(stranger.verificationKey.fingerprint)))
    #expect(try host.contents() == before)
    let report = try host.installer().install(
      bundle.signed(with: try KeyTests.key(seed: Self.fleetSeed)), from: "lab.bundle")
    guard case .trusted(let key) = report.trust else {
      Issue.record("\(report.trust)")
      return
    }
    #expect(key.name == "lab-2026")
  }

  @Test func refreshChecksWhatInstallChecks() throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    let local = try KeyFiles.generateLocal(on: host.installation)
    let error = InstallerTests.refusal { _ = try host.installer().refresh() }
    #expect(error?.reason == .refused(.unsigned))
    #expect(try host.value("A") == .integer(1))
    // Signed with the local key, the same contents are accepted again.
    guard let key = try KeyFiles.local(on: host.installation) else { throw TestHost.NotLoaded() }
    #expect(key.verificationKey == local)
    let signed = try TestPolicy(["A": 1]).bundle().signed(with: key)
    #expect(
      try host.installer().install(signed, from: "b").outcome
        == .mended([
          host.installation.generationDirectory(1), host.installation.bundleFile,
        ]))
    #expect(try host.installer().refresh().outcome == .unchanged)
  }

  @Test func theLocalKey() throws {
    let host = try TestHost().initialised()
    #expect(try KeyFiles.local(on: host.installation) == nil)
    let key = try KeyFiles.generateLocal(on: host.installation)
    #expect(try TrustStore(of: host.installation).keys == [TrustedKey(name: "local", key: key)])
    #expect(try FileMetadata.of(host.installation.localKeyFile).permissions == 0o600)
    #expect(InstallerTests.refusal { _ = try KeyFiles.generateLocal(on: host.installation) }?.exitCode == 73)
    // A crash between the two files: the key stays the same.
    try Directory.removeFile(host.installation.trustedKeysDirectory + "/local.pub")
    #expect(try KeyFiles.generateLocal(on: host.installation) == key)
  }

  @Test func keysAsFiles() throws {
    let host = TestHost()
    let path = host.root + "/lab key"
    let key = try KeyFiles.generate(at: path)
    #expect(try FileMetadata.of(path).permissions == 0o600)
    #expect(try FileMetadata.of(path + ".pub").permissions == 0o644)
    #expect(try KeyFiles.signingKey(at: path).verificationKey == key)
    #expect(InstallerTests.refusal { _ = try KeyFiles.generate(at: path) }?.reason == .keyExists)
    let bytes = try WholeFile.read(path).bytes
    try AtomicReplacement.write(bytes, to: path, mode: 0o640)
    let error = InstallerTests.refusal { _ = try KeyFiles.signingKey(at: path) }
    #expect(error?.description == "\(path): others may read this secret key (mode 640)")
    #expect(error?.next == ["chmod 600 '\(path)'"])
    #expect(InstallerTests.refusal { _ = try KeyFiles.trust(path, as: "a", on: host.installation) }?.exitCode == 65)
  }

  @Test func trustingAgain() throws {
    let host = try Self.trustingHost()
    let path = host.root + "/lab-2026.pub"
    try AtomicReplacement.write(try KeyTests.key(seed: Self.fleetSeed).verificationKey.pem, to: path, mode: 0o644)
    #expect(try KeyFiles.trust(path, on: host.installation).name == "lab-2026")
    try AtomicReplacement.write(SigningKey.generate().verificationKey.pem, to: path, mode: 0o644)
    #expect(InstallerTests.refusal { _ = try KeyFiles.trust(path, on: host.installation) }?.reason == .keyExists)
    #expect(
      InstallerTests.refusal { _ = try KeyFiles.trust(path, as: "../x", on: host.installation) }?.description
        == "'../x' can't name a key: letters, digits, '.', '_' and '-', at most 64")
  }

  /// Whatever can't be believed in `trusted-keys` stops everything: it must not make the directory look empty.
  struct Bad: Sendable, CustomTestStringConvertible {
    let id: String
    let make: @Sendable (_ directory: String, _ good: [UInt8]) throws -> Void
    let message: String
    let exitCode: Int32
    var testDescription: String { id }
  }

  static let bad: [Bad] = [
    Bad(
      id: "empty key",
      make: {
        try AtomicReplacement.write([], to: $0 + "/a.pub", mode: 0o644)
        _ = $1
      },
      message: "/a.pub: it is empty", exitCode: 65),
    Bad(
      id: "another name", make: { try AtomicReplacement.write($1, to: $0 + "/a.pem", mode: 0o644) },
      message: "/a.pem: it is not a key; in this directory only keys, named NAME.pub, may stand", exitCode: 77),
    Bad(
      id: "writable by others", make: { try AtomicReplacement.write($1, to: $0 + "/a.pub", mode: 0o666) },
      message: "/a.pub: others may write it (mode 666)", exitCode: 77),
    Bad(
      id: "a link",
      make: {
        link(from: $0 + "/a.pub", to: "/etc/hostname")
        _ = $1
      },
      message: "/a.pub: it is a symbolic link; a plain file is needed", exitCode: 77),
    Bad(
      id: "a directory",
      make: {
        try Directory.create($0 + "/a.pub")
        _ = $1
      },
      message: "cannot read /a.pub: it is a directory, not a file", exitCode: 66),
    Bad(
      id: "a directory that others may write",
      make: {
        chmod($0, 0o777)
        _ = $1
      },
      message: ": others may write it (mode 777)", exitCode: 77),
  ]

  @Test(arguments: bad) func nothingInTrustedKeysIsPassedOver(row: Bad) throws {
    let host = try TestHost().initialised()
    let directory = host.installation.trustedKeysDirectory
    try row.make(directory, try KeyTests.key(seed: Self.fleetSeed).verificationKey.pem)
    let bundle = try TestPolicy(["A": 1]).bundle()
    let error = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "b") }
    #expect(error?.description.replacing(directory, with: "") == row.message)
    #expect(error?.exitCode == row.exitCode)
    #expect(try host.installer().generations().map(\.number) == [0])
  }

  @Test func temporaryNamesAreNoKeys() throws {
    let host = try TestHost().initialised()
    try AtomicReplacement.write(
      [], to: host.installation.trustedKeysDirectory + "/.a.pub.x1.tmp", mode: 0o600)
    #expect(try TrustStore(of: host.installation).keys.isEmpty)
  }

  /// Before the first installation there need be no folder of keys; afterwards it was lost where it is missing.
  @Test(arguments: [true, false]) func aMissingFolderOfKeys(isInitialised: Bool) throws {
    let host = TestHost()
    if isInitialised {
      _ = try host.initialised()
    } else {
      try host.installer().enroll(host: "lab-a-03")
      #expect(try TrustStore(of: host.installation).keys.isEmpty)
      _ = try host.installer().install(try TestPolicy(serial: 999, ["A": 1]).bundle(), from: "b")
    }
    let directory = host.installation.trustedKeysDirectory
    try Directory.remove(directory)
    // A lost marker does not make it a new host.
    for change in 0..<2 {
      if change == 1 { try Directory.removeFile(host.installation.generationMarker) }
      let bundle = try TestPolicy(["A": 2]).bundle()
      let error = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "b") }
      #expect(
        error?.description
          == "\(directory): the folder of trusted keys is missing, so whose bundles count can't be told")
      #expect(error?.exitCode == 77)
      #expect(
        error?.next == [
          "policyctl --root \(host.root) init", "policyctl --root \(host.root) key trust FILE.pub",
        ])
    }
    _ = try host.installer().initialise(host: "lab-a-03")
    #expect(try host.installer().install(try TestPolicy(["A": 2]).bundle(), from: "b").outcome == .installed)
  }

  /// With its last key a host must not lose the memory that it asked for signatures.
  @Test func aHostThatAskedForSignaturesGoesOnAsking() throws {
    let host = try Self.trustingHost()
    let key = try KeyTests.key(seed: Self.fleetSeed)
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle().signed(with: key), from: "b")
    let trusted = host.installation.trustedKeysDirectory + "/lab-2026.pub"
    let pem = try WholeFile.read(trusted).bytes
    try Directory.removeFile(trusted)
    let unsigned = try TestPolicy(serial: 1001, sources: 2, ["A": 2]).bundle()
    let refusal = InstallError.Reason.refused(.noKeysLeft(before: key.verificationKey.fingerprint))
    func refused(_ bundle: Bundle) -> InstallError? {
      InstallerTests.refusal { _ = try host.installer().install(bundle, from: "lab.bundle") }
    }
    #expect(refused(unsigned)?.reason == refusal && refused(unsigned)?.exitCode == 77)
    #expect(
      refused(unsigned)?.description
        == "lab.bundle: this host trusts no key any more, and what is in use was signed by key "
        + "\(key.verificationKey.fingerprint.short), which it trusted: nothing can be checked")
    #expect(refused(unsigned)?.next == ["policyctl --root \(host.root) key trust FILE.pub"])
    // A signature that nobody can check is none.
    #expect(refused(unsigned.signed(with: key))?.reason == refusal)
    #expect(InstallerTests.refusal { _ = try host.installer().refresh() }?.reason == refusal)
    let applied = InstallerTests.refusal {
      _ = try host.installer().apply(
        payload: unsigned.payload, sourceDigest: unsigned.sourceDigest, serial: .atLeast(1), from: "policies")
    }
    #expect(applied?.reason == refusal)
    // Nor does the loss of the marker make it forget.
    let marker = try WholeFile.read(host.installation.generationMarker).bytes
    try Directory.removeFile(host.installation.generationMarker)
    #expect(refused(unsigned)?.reason == refusal)
    try AtomicReplacement.write(marker, to: host.installation.generationMarker, mode: 0o644)
    #expect(try host.value("A") == .integer(1))
    // Two ways on: the key again, or a decision.
    try AtomicReplacement.write(pem, to: trusted, mode: 0o644)
    #expect(try host.installer().refresh().outcome == .unchanged)
    try Directory.removeFile(trusted)
    let report = try host.installer().install(unsigned, from: "b", allowUnsigned: true)
    #expect(report.outcome == .installed && report.trust == .noKeysToCheck)
    #expect(try host.installer().refresh().outcome == .unchanged)
    #expect(
      try host.installer().install(try TestPolicy(serial: 1002, ["A": 3]).bundle(), from: "b").outcome == .installed)
  }

  /// What the marker says of the signer follows what was last accepted, also where nothing else changes.
  @Test func theSameBundleUnderASignature() throws {
    let host = try TestHost().initialised()
    let bundle = try TestPolicy(["A": 1]).bundle()
    _ = try host.installer().install(bundle, from: "b")
    #expect(try ForcedDomainLoader(host.installation).marker()?.signer == nil)
    _ = try KeyFiles.generateLocal(on: host.installation)
    guard let key = try KeyFiles.local(on: host.installation) else { throw TestHost.NotLoaded() }
    _ = try host.installer().install(bundle.signed(with: key), from: "b")
    #expect(
      try ForcedDomainLoader(host.installation).marker()?.signer == key.verificationKey.fingerprint.bytes)
    #expect(try host.installer().refresh().outcome == .unchanged)
  }

  /// `allowUnsigned` is no way round a key that is trusted.
  @Test func allowUnsignedDoesNotOverrideAKey() throws {
    let host = try Self.trustingHost()
    let bundle = try TestPolicy(["A": 1]).bundle()
    let error = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "b", allowUnsigned: true) }
    #expect(error?.reason == .refused(.unsigned))
  }

  @Test func theIdentityFileMustBeOurs() throws {
    let host = try TestHost().initialised()
    let path = host.installation.hostFile
    let bytes = try WholeFile.read(path).bytes
    let bundle = try TestPolicy(["A": 1]).bundle()
    try AtomicReplacement.write(bytes, to: path, mode: 0o664)
    let writable = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "b") }
    #expect(writable?.description == "\(path): others may write it (mode 664)" && writable?.exitCode == 77)
    #expect(writable?.next == ["sudo chmod go-w \(path)"])
    if ProcessIdentity.effectiveUserID == 0 {
      try AtomicReplacement.write(bytes, to: path, mode: 0o644, owner: .init(userID: 1001, groupID: 1001))
      let foreign = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "b") }
      #expect(
        foreign?.description == "\(path): it belongs to user 1001; it must belong to root or to you"
          && foreign?.exitCode == 77)
    }
    try AtomicReplacement.write(Array("name: a\n".utf8), to: path, mode: 0o644)
    let malformed = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "b") }
    #expect(malformed?.description == "\(path):1: the field 'version' is missing" && malformed?.exitCode == 65)
    // A new enrolment mends it.
    #expect(try host.installer().enroll(host: "lab-a-04") == nil)
    #expect(try host.installer().install(bundle, from: "b").host.name == "lab-a-04")
  }
}
