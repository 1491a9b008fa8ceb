public import ForcedDomain
import LinuxFiles

/// Keys as files: making them, trusting them, and the key that signs what is applied on this host.
public enum KeyFiles {
  /// The name under which a host trusts its own key.
  public static let localName = "local"

  /// Puts on record that a key is about to be trusted.
  public typealias TrustWitness = (TrustedKey) throws(InstallError) -> Void

  /// Makes a key for signing bundles: `path`, readable by its owner alone, and `path.pub` for the hosts.
  /// - Returns: the public half. Neither file may exist before.
  public static func generate(at path: String) throws(InstallError) -> VerificationKey {
    for file in [path, path + ".pub"] where Footprint.exists(file) { throw InstallError(.keyExists, path: file) }
    let key = SigningKey.generate()
    do throws(FileError) {
      try AtomicReplacement.write(key.pem, to: path, mode: 0o600)
      try AtomicReplacement.write(key.verificationKey.pem, to: path + ".pub", mode: 0o644)
    } catch {
      throw InstallError(writing: error)
    }
    return key.verificationKey
  }

  /// Makes the key that signs what `apply` installs on this host, and trusts it on this host only.
  ///
  /// Where a crash left the key without the trust, the trust is made good.
  ///
  /// - Parameter witness: called right before the key is trusted; what it throws keeps that from happening.
  public static func generateLocal(
    on installation: Installation, witness: TrustWitness = { (_) throws(InstallError) in }
  ) throws(InstallError) -> VerificationKey {
    var footprint = try Footprint.changing(installation)
    try footprint.makeDirectory(installation.trustedKeysDirectory)
    let trusted = FilePath.join(installation.trustedKeysDirectory, localName + ".pub")
    if Footprint.exists(trusted) { throw InstallError(.keyExists, path: trusted) }
    let key: VerificationKey
    if let existing = try local(on: installation) {
      key = existing.verificationKey
    } else {
      let new = SigningKey.generate()
      try footprint.write(new.pem, to: installation.localKeyFile, mode: 0o600)
      key = new.verificationKey
    }
    try witness(TrustedKey(name: localName, key: key))
    try footprint.write(key.pem, to: trusted, mode: 0o644)
    return key
  }

  /// Copies a public key to this host's trusted ones.
  /// - Parameters:
  ///   - name: nil: the file's name without `.pub`.
  ///   - witness: called right before the key is trusted; what it throws keeps that from happening. Not called for a key
  ///     that is trusted already.
  public static func trust(
    _ file: String, as name: String? = nil, on installation: Installation,
    witness: TrustWitness = { (_) throws(InstallError) in }
  ) throws(InstallError) -> TrustedKey {
    let bytes: [UInt8]
    do throws(FileError) { bytes = try WholeFile.read(file, limit: 4096).bytes } catch {
      throw InstallError(reading: error)
    }
    let key: VerificationKey
    do throws(KeyError) { key = try VerificationKey(pem: bytes) } catch {
      throw InstallError(.malformedKey(error), path: file)
    }
    let own = FilePath.name(of: file)
    let name = name ?? (own.hasSuffix(".pub") ? String(own.dropLast(4)) : own)
    guard KeyName.isWellFormed(name) else { throw InstallError(.malformedKeyName(name), path: file) }
    var footprint = try Footprint.changing(installation)
    try footprint.makeDirectory(installation.trustedKeysDirectory)
    let store = try TrustStore(of: installation)
    let path = FilePath.join(installation.trustedKeysDirectory, name + ".pub")
    if let same = store.keys.first(where: { $0.name == name }) {
      if same.key == key { return same }
      throw InstallError(.keyExists, path: path)
    }
    let trusted = TrustedKey(name: name, key: key)
    try witness(trusted)
    // The key is written as we write keys: what was checked is what counts.
    try footprint.write(key.pem, to: path, mode: 0o644)
    return trusted
  }

  /// The key for `compile --sign`: it must be the caller's (or root's) and readable by nobody else.
  public static func signingKey(at path: String) throws(InstallError) -> SigningKey {
    let bytes: [UInt8]
    let metadata: FileMetadata
    do throws(FileError) { (bytes, metadata) = try WholeFile.read(path, limit: 4096) } catch {
      throw InstallError(reading: error)
    }
    guard metadata.userID == 0 || metadata.userID == ProcessIdentity.effectiveUserID else {
      throw InstallError(.notTrustworthy("this secret key belongs to user \(metadata.userID)"), path: path)
    }
    guard metadata.permissions & 0o077 == 0 else {
      throw InstallError(
        .notTrustworthy("others may read this secret key (mode \(String(metadata.permissions, radix: 8)))"), path: path,
        next: ["chmod 600 \(ShellText.quoted(path))"])
    }
    do throws(KeyError) { return try SigningKey(pem: bytes) } catch {
      throw InstallError(.malformedKey(error), path: path)
    }
  }

  /// The key that signs what `apply` installs here; nil where there is none.
  public static func local(on installation: Installation) throws(InstallError) -> SigningKey? {
    let path = installation.localKeyFile
    guard Footprint.exists(path) else { return nil }
    let bytes = try AdministrativeFile.read(path, of: installation, limit: 4096, isSecret: true)
    do throws(KeyError) { return try SigningKey(pem: bytes) } catch {
      throw InstallError(
        .malformedKey(error), path: path,
        next: ["sudo rm \(ShellText.quoted(path))", installation.command("key generate --local")])
    }
  }
}
