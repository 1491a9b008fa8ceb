import ForcedDomain
import LinuxFiles

/// Reading the files that decide what `policyctl` does on a host (enrolment, keys, bundles): only what a trusted owner alone
/// could have written counts. What applications read goes through `ForcedDomain`.
///
/// The descriptor that is checked is the one that is read, and the last component may not be a link: nothing can be
/// exchanged between the check and the use.
enum AdministrativeFile {
  /// - Parameters:
  ///   - limit: bytes; more is an error.
  ///   - isSecret: nobody else may even read it.
  static func read(
    _ path: String, of installation: Installation, limit: Int, isSecret: Bool = false
  ) throws(InstallError) -> [UInt8] {
    try checkDirectory(FilePath.parent(of: path), of: installation)
    let bytes: [UInt8]
    let metadata: FileMetadata
    do throws(FileError) {
      (bytes, metadata) = try WholeFile.read(path, limit: limit, followingLinks: false)
    } catch {
      if error.errno == .tooManySymbolicLinks {
        throw InstallError(.notTrustworthy("it is a symbolic link; a plain file is needed"), path: path)
      }
      throw InstallError(reading: error)
    }
    try check(metadata, path: path, of: installation)
    if isSecret && metadata.permissions & 0o077 != 0 {
      throw InstallError(
        .notTrustworthy("others may read this secret key (mode \(String(metadata.permissions, radix: 8)))"), path: path,
        next: ["sudo chmod 600 \(ShellText.quoted(path))"])
    }
    return bytes
  }

  /// A directory whose entries decide something: whoever could write it could exchange them.
  static func checkDirectory(_ path: String, of installation: Installation) throws(InstallError) {
    let metadata: FileMetadata
    do throws(FileError) { metadata = try FileMetadata.of(path, followingLinks: false) } catch {
      throw InstallError(reading: error)
    }
    guard metadata.isDirectory else {
      throw InstallError(.notTrustworthy("it is not a directory"), path: path)
    }
    try check(metadata, path: path, of: installation)
  }

  private static func check(
    _ metadata: FileMetadata, path: String, of installation: Installation
  ) throws(InstallError) {
    let owner = installation.root.isEmpty ? "root" : "root or to you"
    guard installation.isTrustedOwner(metadata.userID) else {
      throw InstallError(
        .notTrustworthy("it belongs to user \(metadata.userID); it must belong to \(owner)"), path: path,
        next: ["sudo chown root \(ShellText.quoted(path))"])
    }
    guard !metadata.isWritableByGroupOrOthers else {
      throw InstallError(
        .notTrustworthy("others may write it (mode \(String(metadata.permissions, radix: 8)))"), path: path,
        next: ["sudo chmod go-w \(ShellText.quoted(path))"])
    }
  }
}
