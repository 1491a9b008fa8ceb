import CommandLineKit
import ForcedDomain
import Glibc
import LinuxFiles
import PreferencesCore

/// Copies of the domains that a contained program may read, kept as new as the domains themselves while it runs.
///
/// Owners replace their files by rename, and a file that is shown to the program would stay the old one for ever; the folder
/// of the owner has other domains in it. So the supervisor copies: before the start, and at each change that inotify tells or
/// that a look each half second finds.
///
/// What is copied is what every reader of the domain gets (`PersistentDomain`): where the domain lives, with no link followed
/// where another application could have planted one. Each run has copies of its own, so that one that was started under another
/// policy shares nothing with it.
final class ReadMirror {
  let directory: String
  private let lock: FileLock
  private var copies: [Copy]
  private let locations: PreferenceLocations
  private var watch: FileWatch?
  private var watched: Set<String> = []

  private struct Copy {
    let domain: String
    let host: PersistentDomain.Host
    /// What is in the mirror; nil for none.
    var version: FileMetadata?
  }

  /// How long a change may go unnoticed where the kernel tells nothing, in milliseconds.
  static let interval: Int32 = 500

  init(_ grants: ApplicationGrants, _ user: ContainedUser, _ installation: Installation) throws(CommandFailure) {
    let containers = user.containers
    // As somebody sees them who is not contained.
    locations = PreferenceLocations(
      homeDirectory: user.home, configurationDirectory: user.configurationDirectory,
      dataDirectory: user.dataDirectory, installation: installation)
    copies = []
    for domain in [GlobalDomain.name] + grants.read where copies.isEmpty || domain != GlobalDomain.name {
      copies.append(Copy(domain: domain, host: .any))
      copies.append(Copy(domain: domain, host: .current))
    }
    do throws(FileError) {
      let all = containers.readDirectory(ofContainer: grants.identifier)
      try Directory.createAll(all, mode: 0o700)
      // One at a time, so that a folder which is not locked yet is not taken for one that was left.
      let alone = try FileLock.exclusive(directory: all, timeout: 10)
      try Self.removeLeft(in: all)
      directory = FilePath.join(all, String(getpid()) + "-" + String(UInt32.random(in: .min ... .max), radix: 36))
      try Directory.create(directory, mode: 0o700)
      lock = try FileLock.exclusive(directory: directory, timeout: 0)
      _ = consume alone
    } catch {
      throw CommandFailure(error, while: .creating)
    }
    try refresh()
  }

  /// Removes what runs left that were killed: the folders that nobody has locked.
  private static func removeLeft(in all: String) throws(FileError) {
    for name in try Directory.names(in: all) {
      let path = FilePath.join(all, name)
      guard let left = try? FileLock.exclusive(directory: path, timeout: 0) else { continue }
      try Directory.removeTree(path)
      _ = consume left
    }
  }

  /// Has the kernel tell of changes from now on. Not from the start: giving it up again takes the kernel up to 20 ms, which
  /// short runs would wait for.
  func startWatching() { if watch == nil { watch = try? FileWatch() } }

  /// For `poll`; -1 where the kernel tells nothing.
  var descriptor: Int32 { watch?.descriptor ?? -1 }

  /// Brings the copies up to date after the kernel told of a change. It tells of every file of these folders, and a look is
  /// cheap: a system call or two for each domain.
  func noticeChanges() {
    guard let changes = watch?.changes() else { return }
    if changes.contains(where: { $0.name.isEmpty || $0.overflowed }) {
      // A folder went, or something was lost: begin again.
      watched = []
      watch = try? FileWatch()
    }
    try? refresh()
  }

  /// Looks at every domain. An error with one copy is an error of the start; later it is taken up again at the next look.
  func refresh() throws(CommandFailure) {
    for index in copies.indices {
      do throws(FileError) {
        copies[index].version = try refreshed(copies[index])
      } catch {
        throw CommandFailure(error, while: .writing)
      }
    }
  }

  /// - Returns: the version that the mirror has now.
  private func refreshed(_ copy: Copy) throws(FileError) -> FileMetadata? {
    // Where it lives can change: it may get a container of its own.
    guard let domain = try? PersistentDomain(copy.domain, host: copy.host, in: locations) else { return nil }
    // Watched before looked at: what changes between is told.
    let folder = FilePath.parent(of: domain.path)
    if watch != nil, !watched.contains(folder), (try? watch?.add(directory: folder)) != nil { watched.insert(folder) }
    // What can't be read is not there; an old copy would say that it is.
    let contents = try? domain.fileContents(unless: copy.version)
    let isPerHost = copy.host == .current
    let place = FilePath.join(
      isPerHost ? FilePath.join(directory, "ByHost") : directory, FilePath.name(of: domain.path))
    guard let (bytes, version) = contents ?? nil else {
      if copy.version != nil { try Directory.removeFile(place) }
      return nil
    }
    if let bytes {
      if isPerHost { try Directory.create(FilePath.parent(of: place), mode: 0o700) }
      try AtomicReplacement.write(bytes, to: place, mode: 0o400, durable: false)
    }
    return version
  }

  /// Removes the copies; nothing is left of a run.
  func remove() {
    // As a rule there are none.
    if rmdir(directory) != 0 { try? Directory.removeTree(directory) }
  }
}
