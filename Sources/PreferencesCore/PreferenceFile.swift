import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList

/// One preference file on the disk: how it is named, trusted, locked, read and replaced.
///
/// Search lists, persistent domains by name and domains by path all go through here; there is no other copy of these rules.
struct PreferenceFile: Sendable, Hashable {
  /// What keeps writers of the file apart.
  enum Lock: Sendable, Hashable {
    /// A file of its own, so that the lock survives the rename of what it guards.
    case file(directory: String, name: String)
    /// The directory that the file is in, where we may not leave files of our own.
    case directory(String)
  }

  /// A domain that may move into a container or a group's folder while processes have its file in use.
  ///
  /// Who had the file before goes on with the one that it has become: else what is set in a program that was running when the
  /// domain moved would be written to a file that nobody reads any more.
  struct Move: Sendable, Hashable {
    let containers: ContainerDirectories
    let domain: String

    /// Where the domain lives, if it has moved. One system call where the user has neither containers nor groups.
    var place: PreferencePlace? {
      if (try? FileMetadata.of(containers.base, followingLinks: false)) == nil { return nil }
      return containers.place(ofDomain: domain)
    }
  }

  static let perHostDirectory = "ByHost"

  let directory: String
  let name: String
  /// Where a contained application can write below: from there on, no link is followed, that of the file itself included.
  /// nil where the files are the user's own, who may have links as she likes.
  let anchor: String?
  let lock: Lock
  /// nil for files that stay where they are.
  var move: Move? = nil
  /// The installation whose owner's files alone count; nil for files of users.
  let trust: Installation?

  /// Whether the directory need not be there: that of per-host files, that of files for any user, those of containers.
  var isOptional: Bool { trust != nil || anchor != nil || isPerHost }
  var isPerHost: Bool { FilePath.name(of: directory) == Self.perHostDirectory }

  var path: String { FilePath.join(directory, name) }

  /// The file as it is now: this one, or what it has become.
  func located() -> PreferenceFile {
    guard let move, let place = move.place else { return self }
    let directory = isPerHost ? FilePath.join(place.directory, Self.perHostDirectory) : place.directory
    var lock = lock
    if case .file(_, let name) = lock {
      let locks = FilePath.join(place.directory, PreferenceLocations.locksDirectory)
      lock = .file(directory: isPerHost ? FilePath.join(locks, Self.perHostDirectory) : locks, name: name)
    }
    return PreferenceFile(directory: directory, name: name, anchor: place.anchor, lock: lock, trust: nil)
  }

  /// What reading the file gave.
  struct Reading {
    var values: [String: PropertyListValue]
    /// nil: there is no such file, or it is not to be trusted.
    var version: FileMetadata?
    var fault: PreferencesFault?
  }

  /// Reads the file. Waits for no writer that replaces files whole, as ours do; for a program that cuts the file and writes
  /// it anew in its place (plain Foundation on Linux does) until it seems to be done.
  func read() -> Reading {
    var reading = readOnce()
    for _ in 0..<200 where reading.fault?.kind == .damaged && isBeingWritten(reading.version) {
      usleep(5000)
      reading = readOnce()
    }
    return reading
  }

  /// Whether the file changed a moment ago, or since it was read.
  private func isBeingWritten(_ version: FileMetadata?) -> Bool {
    guard let version, !isOutdated(since: version) else { return true }
    let age = WallClock.unixMilliseconds() - version.modificationNanoseconds / 1_000_000
    return (0..<100).contains(age)
  }

  /// Whether reading the file again could give nothing else. The clock of a file's times ticks in milliseconds, so a change
  /// in place right after the reading may show no difference; what is older than such a moment is sure.
  func surelyHolds(_ reading: Reading) -> Bool {
    guard reading.fault == nil, let version = reading.version, !isOutdated(since: version) else { return false }
    return WallClock.unixMilliseconds() - version.changeNanoseconds / 1_000_000 > 100
  }

  private func readOnce() -> Reading { located().readHere() }

  private func readHere() -> Reading {
    if let trust { return read(trusting: trust) }
    do throws(FileError) {
      guard let (bytes, metadata) = try contentsHere() else { return Reading(values: [:], version: nil, fault: nil) }
      return parse(bytes, metadata)
    } catch {
      // A link that a contained application planted leads nowhere. It is as good as a damaged file: a writer moves it aside.
      let isLink = error.errno == .tooManySymbolicLinks && anchor != nil
      let fault =
        isLink
        ? PreferencesFault(.damaged, path: path, message: "is a symbolic link, and none is followed in a container")
        : PreferencesFault(.unreadable, path: path, error)
      return Reading(values: [:], version: metadataHere(), fault: fault)
    }
  }

  /// The bytes of a user's file; nil where there is none.
  func contents() throws(FileError) -> (bytes: [UInt8], metadata: FileMetadata)? { try located().contentsHere() }

  private func contentsHere() throws(FileError) -> (bytes: [UInt8], metadata: FileMetadata)? {
    let limit = DecodingLimits.default.maximumBytes
    do throws(FileError) {
      if anchor == nil { return try WholeFile.read(path, limit: limit) }
      return try WholeFile.read(name, in: try openDirectory(), limit: limit)
    } catch {
      if error.errno == .noSuchFile { return nil }
      throw error
    }
  }

  /// The directory that the file is in, held open; below `anchor`, nothing leads elsewhere.
  /// - Parameter mode: of the directories that are made where they are missing; nil makes none.
  func openDirectory(creating mode: UInt32? = nil) throws(FileError) -> OpenDirectory {
    if let anchor { return try OpenDirectory(directory, below: anchor, creating: mode) }
    if let mode { try Directory.createAll(directory, mode: mode) }
    return try OpenDirectory(directory)
  }

  /// Of what has the file's name now; nil where nothing has, or it can't be asked.
  private func metadataHere() -> FileMetadata? {
    try? FileMetadata.of(path, followingLinks: trust == nil && anchor == nil)
  }

  private func read(trusting installation: Installation) -> Reading {
    do throws(TrustedFile.Failure) {
      let (bytes, metadata) = try TrustedFile.read(
        name, in: directory, of: installation, limit: DecodingLimits.default.maximumBytes)
      return parse(bytes, metadata)
    } catch {
      switch error {
      case .missing: return Reading(values: [:], version: nil, fault: nil)
      case .denied:
        let denied = FileError("open", path: path, errno: .permissionDenied)
        return Reading(values: [:], version: nil, fault: PreferencesFault(.unreadable, path: path, denied))
      case .fault(let fault):
        return Reading(
          values: [:], version: nil, fault: PreferencesFault(.untrusted, path: fault.path, message: fault.message))
      }
    }
  }

  private func parse(_ bytes: [UInt8], _ metadata: FileMetadata) -> Reading {
    do throws(PropertyListError) {
      if case .dictionary(let values) = try PropertyListCoding.decode(bytes) {
        return Reading(values: values, version: metadata, fault: nil)
      }
      let fault = PreferencesFault(.damaged, path: path, message: "the file's property list is not a dictionary")
      return Reading(values: [:], version: metadata, fault: fault)
    } catch {
      let fault = PreferencesFault(.damaged, path: path, message: "the file is not a property list: \(error)")
      return Reading(values: [:], version: metadata, fault: fault)
    }
  }

  /// Whether the file on the disk is another than the one that was read. One system call; one to three more for a file that
  /// may move (`Move`), and two where other machines may have changed it: opening makes the kernel ask the server, which a look
  /// at the path alone does only every few seconds.
  func isOutdated(since version: FileMetadata?, isShared: Bool = false) -> Bool {
    let file = located()
    if isShared { _ = try? FileDescriptor.open(file.path, [.nonBlocking]) }
    let now = file.metadataHere()
    guard let now, let version else { return (now == nil) != (version == nil) }
    return !now.isSameVersion(as: version)
  }
}
