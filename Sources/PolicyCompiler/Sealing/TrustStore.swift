public import ForcedDomain
import LinuxFiles

/// A public key that this host trusts.
public struct TrustedKey: Hashable, Sendable {
  /// The file's name without `.pub`.
  public let name: String
  public let key: VerificationKey
}

/// Whether a bundle may be installed here, and on whose word.
public enum TrustDecision: Hashable, Sendable {
  /// Signed by a key of this host's `trusted-keys`.
  case trusted(TrustedKey)
  /// This host trusts no key, so everything that root installs is accepted; the signature, if any, was not checked.
  case noKeysToCheck
  case refused(TrustRefusal)
}

/// Why a bundle is refused on a host that trusts keys.
public enum TrustRefusal: Hashable, Sendable, CustomStringConvertible {
  case unsigned
  /// Signed by a key that this host does not trust.
  case unknownSigner(KeyFingerprint)
  /// It names a trusted key, and the signature does not fit.
  case badSignature(by: String)
  /// The host trusts no key any more, and what is in use was accepted by a key's signature.
  case noKeysLeft(before: KeyFingerprint)

  public var description: String {
    switch self {
    case .unsigned: "the bundle is not signed, and this host accepts only bundles signed by a trusted key"
    case .unknownSigner(let fingerprint):
      "the bundle is signed by key \(fingerprint.short), which this host does not trust"
    case .badSignature(let name):
      "the bundle names the trusted key '\(name)' as its signer, but the signature does not fit: it was changed or forged"
    case .noKeysLeft(let fingerprint):
      "this host trusts no key any more, and what is in use was signed by key \(fingerprint.short), which it trusted: "
        + "nothing can be checked"
    }
  }
}

/// The keys by which a host tells its administrators' bundles from others: the `NAME.pub` files in `trusted-keys`.
public struct TrustStore: Sendable {
  /// Sorted by name.
  public let keys: [TrustedKey]

  init(keys: [TrustedKey]) { self.keys = keys.sorted { $0.name < $1.name } }

  /// Reads the directory. Anything in it that is not a sound key is an error, never passed over: were it passed over, a
  /// damaged key would leave the directory "empty", and an empty one accepts everything. Only names that begin with a
  /// dot (temporary files) don't count. A directory that is not there is empty where nothing was installed yet; on an
  /// installed host it was lost, which is an error.
  public init(of installation: Installation) throws(InstallError) {
    let directory = installation.trustedKeysDirectory
    let names: [String]
    do throws(FileError) { names = try Directory.names(in: directory) } catch {
      guard error.errno == .noSuchFile else { throw InstallError(reading: error) }
      if Footprint.exists(installation.generationMarker) || installation.hasTraces() {
        throw InstallError(
          .notTrustworthy("the folder of trusted keys is missing, so whose bundles count can't be told"),
          path: directory, next: [installation.command("init"), installation.command("key trust FILE.pub")])
      }
      self.init(keys: [])
      return
    }
    try AdministrativeFile.checkDirectory(directory, of: installation)
    var keys: [TrustedKey] = []
    for name in names where !name.hasPrefix(".") {
      let path = FilePath.join(directory, name)
      guard name.hasSuffix(".pub"), KeyName.isWellFormed(name.dropLast(4)) else {
        throw InstallError(
          .notTrustworthy("it is not a key; in this directory only keys, named NAME.pub, may stand"), path: path,
          next: ["sudo mv \(ShellText.quoted(path)) /root/", installation.command("key list")])
      }
      let bytes = try AdministrativeFile.read(path, of: installation, limit: 4096)
      do throws(KeyError) {
        keys.append(TrustedKey(name: String(name.dropLast(4)), key: try VerificationKey(pem: bytes)))
      } catch {
        throw InstallError(
          .malformedKey(error), path: path,
          next: ["sudo mv \(ShellText.quoted(path)) /root/", installation.command("key trust FILE.pub")])
      }
    }
    self.init(keys: keys)
  }

  /// While there are no keys, everything is accepted; otherwise only what a trusted key signed. `Installer` adds what was
  /// in use before.
  public func decide(on bundle: Bundle) -> TrustDecision {
    if keys.isEmpty { return .noKeysToCheck }
    guard let signature = bundle.signature else { return .refused(.unsigned) }
    guard let key = keys.first(where: { $0.key.fingerprint == signature.signer }) else {
      return .refused(.unknownSigner(signature.signer))
    }
    return bundle.isSigned(by: key.key) ? .trusted(key) : .refused(.badSignature(by: key.name))
  }
}

/// Names of keys: they become file names.
public enum KeyName {
  /// Letters, digits, `.`, `_`, `-`, not beginning with a dot or hyphen, at most 64.
  public static func isWellFormed(_ name: some StringProtocol) -> Bool {
    guard (1...64).contains(name.utf8.count), let first = name.utf8.first, first != UInt8(ascii: "."),
      first != UInt8(ascii: "-")
    else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }
}
