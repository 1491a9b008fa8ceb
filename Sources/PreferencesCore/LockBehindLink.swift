import LinuxFiles

extension PreferenceFile {
  /// The lock of a file that is a symbolic link; nil where it is none, or leads to nothing and is replaced itself.
  ///
  /// A write through a link replaces what the link leads to, so that is what is locked, or two domains with one file would
  /// lose each other's changes:
  ///
  /// 1. among this user's preference files: the lock of the domain that is kept there;
  /// 2. elsewhere: the directory, as for a domain by path. Network file systems have no locks on directories; there it is
  ///    the lock of the domain by name, which keeps apart the writers of that domain alone.
  ///
  /// One lock, never two: so no two writers wait for each other. In a container no link is followed.
  var lockBehindLink: Lock? {
    guard anchor == nil, (try? FileMetadata.of(path, followingLinks: false))?.isSymbolicLink == true,
      let target = SymbolicLink.resolved(path)
    else { return nil }
    let place = FilePath.parent(of: target)
    if let lock = lock(ofFile: FilePath.name(of: target), in: place) { return lock }
    let isShared = (try? FileSystemType.of(place))?.isShared ?? true
    return isShared ? nil : .directory(place)
  }

  /// The lock of the domain whose file has this name in this directory; nil where the directory is not one of this user's
  /// two.
  private func lock(ofFile name: String, in place: String) -> Lock? {
    guard case .file(let locks, _) = lock, let domain = Self.lockName(ofFile: name) else { return nil }
    let files = isPerHost ? FilePath.parent(of: directory) : directory
    let root = isPerHost ? FilePath.parent(of: locks) : locks
    if Self.isSame(place, files) { return .file(directory: root, name: domain) }
    if Self.isSame(place, FilePath.join(files, Self.perHostDirectory)) {
      return .file(directory: FilePath.join(root, Self.perHostDirectory), name: domain)
    }
    return nil
  }

  /// `DOMAIN.lock` for `DOMAIN.plist`, `DOMAIN.HOST.lock` for `DOMAIN.HOST.plist`.
  private static func lockName(ofFile name: String) -> String? {
    guard name.hasSuffix(".plist") else { return nil }
    let stem = String(name.dropLast(".plist".count))
    let global = ".GlobalPreferences"
    let isGlobal = stem == global || stem.hasPrefix(global + ".")
    return (isGlobal ? GlobalDomain.name + stem.dropFirst(global.count) : stem) + ".lock"
  }

  private static func isSame(_ place: String, _ other: String) -> Bool {
    guard let a = try? FileMetadata.of(place), let b = try? FileMetadata.of(other) else { return false }
    return a.device == b.device && a.inode == b.inode
  }
}
