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
/// A domain that has a container lives there, and its application may have put anything there: nothing of it is opened
/// through a link. Each run has copies of its own, so that one that was started under another policy shares nothing with it.
final class ReadMirror {
  let directory: String
  private let lock: FileLock
  private var copies: [Copy]
  private let folders: [String]
  private var watch: FileWatch?
  private var watched: Set<String> = []
  private let names: Set<String>

  private struct Copy {
    /// Below the mirror.
    let place: String
    let domain: String
    /// What is in the mirror; nil for none.
    var version: FileMetadata?
  }

  private let configurationDirectory: String
  private let containers: ContainerDirectories

  /// How long a change may go unnoticed where the kernel tells nothing, in milliseconds.
  static let interval: Int32 = 500

  init(_ grants: ApplicationGrants, _ user: ContainedUser) throws(CommandFailure) {
    configurationDirectory = user.configurationDirectory
    containers = user.containers
    let host = HostIdentifier.current()
    copies = ([GlobalDomain.name] + grants.read.filter { $0 != GlobalDomain.name && DomainName.fault(in: $0) == nil })
      .flatMap { domain in
        let stem = domain == GlobalDomain.name ? ".GlobalPreferences" : domain
        return [
          Copy(place: "\(stem).plist", domain: domain), Copy(place: "ByHost/\(stem).\(host).plist", domain: domain),
        ]
      }
    var folders: [String] = []
    for domain in Set(copies.map(\.domain)) {
      let outside =
        domain == GlobalDomain.name
        ? [configurationDirectory]
        : [configurationDirectory, FilePath.join(containers.home(ofContainer: domain), ".config")]
      folders += outside + outside.map { FilePath.join($0, "ByHost") }
    }
    self.folders = Set(folders).sorted()
    // Another's new file has the name that it will have, or that it had.
    names = Set(copies.map { FilePath.name(of: $0.place) } + ["ByHost"])
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

  /// Brings the copies up to date where something of theirs happened.
  func noticeChanges() {
    guard let changes = watch?.changes() else { return }
    if changes.contains(where: { $0.name.isEmpty || $0.overflowed }) {
      // A folder went, or something was lost: begin again.
      watched = []
      watch = try? FileWatch()
    }
    if changes.contains(where: { $0.name.isEmpty || $0.overflowed || names.contains($0.name) }) { try? refresh() }
  }

  /// Looks at every domain. An error with one copy is an error of the start; later it is taken up again at the next look.
  func refresh() throws(CommandFailure) {
    // Watched before looked at: what changes between is told.
    for folder in folders where !watched.contains(folder) {
      if (try? watch?.add(directory: folder)) != nil { watched.insert(folder) }
    }
    for index in copies.indices {
      do throws(FileError) { copies[index].version = try refreshed(copies[index]) } catch {
        throw CommandFailure(error, while: .writing)
      }
    }
  }

  /// - Returns: the version that the mirror has now.
  private func refreshed(_ copy: Copy) throws(FileError) -> FileMetadata? {
    let path = FilePath.join(directory, copy.place)
    // What can't be read is not there; an old copy would say that it is.
    guard let (bytes, version) = source(copy) else {
      if copy.version != nil { try Directory.removeFile(path) }
      return nil
    }
    if bytes != nil, copy.place.utf8.contains(UInt8(ascii: "/")) {
      try Directory.create(FilePath.parent(of: path), mode: 0o700)
    }
    if let bytes { try AtomicReplacement.write(bytes, to: path, mode: 0o400, durable: false) }
    return version
  }

  /// The domain's file now: its version, and its bytes unless they are the copy's.
  private func source(_ copy: Copy) -> ([UInt8]?, FileMetadata)? {
    let parts = copy.place.split(separator: "/").map(String.init)
    let container = containers.container(copy.domain)
    do {
      let isContained =
        copy.domain != GlobalDomain.name
        && (try? FileMetadata.of(container, followingLinks: false)) != nil
      var folder = try FileDescriptor.open(isContained ? container : configurationDirectory, [.directory])
      let flags: OpenFlags = isContained ? [.noFollow] : []
      for part in (isContained ? ["home", ".config"] : []) + parts.dropLast() {
        folder = try folder.open(at: part, flags.union(.directory))
      }
      let file = try folder.open(at: parts[parts.count - 1], flags.union(.nonBlocking))
      let version = try file.metadata()
      guard version.isRegularFile else { return nil }
      if let present = copy.version, present.isSameVersion(as: version) { return (nil, version) }
      return (try file.readToEnd(limit: 1 << 28), version)
    } catch {
      return nil
    }
  }

  /// Removes the copies; nothing is left of a run.
  func remove() {
    // As a rule there are none.
    if rmdir(directory) != 0 { try? Directory.removeTree(directory) }
  }
}
