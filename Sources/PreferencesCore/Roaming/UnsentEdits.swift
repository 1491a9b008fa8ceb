import LinuxFiles
public import PropertyList

/// An edit of a key that roams which the application's file has and its synced store has not: the store could not be opened,
/// or did not get it to the disk.
public struct UnsentEdit: Sendable, Equatable {
  /// When it was made: the wall clock's milliseconds since 1970.
  public let time: Int64
  /// What the file had before, in an array: none in it where the key was absent. nil where that is not known.
  public let before: [PropertyListValue]?

  public init(time: Int64, before: [PropertyListValue]? = nil) {
    self.time = time
    self.before = before
  }

  init?(_ value: PropertyListValue) {
    guard case .dictionary(let members) = value, case .integer(let number)? = members["time"],
      let time = number.int64, time >= 0
    else { return nil }
    var before: [PropertyListValue]?
    if case .array(let values)? = members["before"] { before = values }
    self.init(time: time, before: before)
  }

  var value: PropertyListValue {
    var members: [String: PropertyListValue] = ["time": .integer(PropertyListInteger(time))]
    members["before"] = before.map { .array($0) }
    return .dictionary(members)
  }
}

/// Where those edits are marked: `managed-preferences/unsent/DOMAIN.plist` beside the folder of the locks, a dictionary from
/// keys to edits. The values are in the domain's own file.
///
/// Who changes it holds the domain's lock. A mark is written before the value that it is of, and goes once the store has
/// saved that value: a process that is killed in between leaves a mark too many, which changes nothing, since what the store
/// has got meanwhile is equal or later.
extension PreferenceFile {
  private var unsentPlace: (directory: String, name: String)? {
    guard trust == nil, !isPerHost, case .file(let locks, _) = lock else { return nil }
    return (FilePath.join(FilePath.parent(of: locks), "unsent"), name)
  }

  /// The edits that are marked. A file that holds nothing of the kind marks none.
  func unsentEdits() -> [String: UnsentEdit] {
    guard let read = located().bytes(at: \.unsentPlace),
      let members = try? PropertyListCoding.decode(read).dictionaryValue
    else { return [:] }
    return members.compactMapValues { UnsentEdit($0) }
  }

  /// Under the domain's lock.
  func markUnsent(_ edits: [String: UnsentEdit]) throws(FileError) {
    let known = unsentEdits()
    var marked = known
    for (key, edit) in edits {
      // What the store may still have is what was there before the first of several edits.
      marked[key] = UnsentEdit(time: edit.time, before: known[key].map(\.before) ?? edit.before)
    }
    if marked != known { try write(marked) }
  }

  /// Takes away the marks of edits that the store has, but for keys that were edited again meanwhile.
  func settleUnsent(_ edits: [String: Int64], lockTimeout: Double = 10) throws(FileError) {
    if edits.isEmpty { return }
    let file = located()
    try file.refuseForeignHome()
    guard let lock = try file.existingLock(timeout: lockTimeout) else { return }
    let marked = file.unsentEdits()
    let left = marked.filter { edits[$0.key] != $0.value.time }
    if left != marked { try file.write(left) }
    _ = consume lock
  }

  private func write(_ marked: [String: UnsentEdit]) throws(FileError) {
    guard let (path, name) = unsentPlace else { return }
    try Self.write(marked, to: name, in: try directory(path))
  }

  private static func write(
    _ marked: [String: UnsentEdit], to name: String, in directory: borrowing OpenDirectory
  ) throws(FileError) {
    if marked.isEmpty { return try directory.remove(name) }
    guard let bytes = try? PropertyListCoding.encode(.dictionary(marked.mapValues(\.value)), as: .binary) else {
      // What was there before can't be written a second time: without it the times alone decide.
      let times = marked.mapValues { UnsentEdit(time: $0.time).value }
      guard let bytes = try? PropertyListCoding.encode(.dictionary(times), as: .binary) else { return }
      try AtomicReplacement.write(bytes, to: name, in: directory, mode: 0o600)
      return
    }
    try AtomicReplacement.write(bytes, to: name, in: directory, mode: 0o600)
  }
}

/// Which keys have roamed on this machine: `managed-preferences/roamed/DOMAIN.plist` beside the folder of the locks, an array. What
/// is set under one of them while it does not roam is marked as unsent, so that it is known to be later than what the store has
/// when the key roams again.
extension PreferenceFile {
  private var roamedPlace: (directory: String, name: String)? {
    unsentPlace.map { (FilePath.join(FilePath.parent(of: $0.directory), "roamed"), $0.name) }
  }

  /// A file that holds nothing of the kind names none.
  func roamedKeys() -> Set<String> {
    guard let bytes = located().bytes(at: \.roamedPlace), let list = try? PropertyListCoding.decode(bytes) else {
      return []
    }
    guard case .array(let keys) = list else { return [] }
    return Set(keys.compactMap(\.stringValue))
  }

  /// Under the domain's lock.
  func noteRoamed(_ keys: Set<String>) throws(FileError) {
    let known = roamedKeys()
    if keys.isSubset(of: known) { return }
    let all = PropertyListValue.array(known.union(keys).sortedByBytes().map { .string($0) })
    // So many keys that they can't be written: those are not known to have roamed.
    guard let place = roamedPlace, let bytes = try? PropertyListCoding.encode(all, as: .binary) else { return }
    try AtomicReplacement.write(bytes, to: place.name, in: try directory(place.directory), mode: 0o600)
  }

  /// One of the folders beside that of the locks, made where it is missing.
  private func directory(_ path: String) throws(FileError) -> OpenDirectory {
    if let anchor { return try OpenDirectory(path, below: anchor, creating: 0o700) }
    try Directory.createAll(path, mode: 0o700)
    return try OpenDirectory(path)
  }

  /// nil where there is no such file, or it can't be read.
  private func bytes(at place: (PreferenceFile) -> (directory: String, name: String)?) -> [UInt8]? {
    guard let (path, name) = place(self) else { return nil }
    let limit = DecodingLimits.default.maximumBytes
    if let anchor { return try? WholeFile.read(name, in: OpenDirectory(path, below: anchor), limit: limit).bytes }
    return try? WholeFile.read(FilePath.join(path, name), limit: limit).bytes
  }
}

extension PersistentDomain {
  /// Keys that roam whose newest values no synced store has yet: the domain's own file comes before the store for them.
  public func unsentKeys() -> Set<String> { Set(file.unsentEdits().keys) }

  /// The domain's keys that have roamed on this machine.
  public func roamedKeys() -> Set<String> { file.roamedKeys() }

  /// Takes down that keys roam: what is set under them later, while they do not, is marked then.
  /// - Throws: `.busy` or `.unwritable`.
  public func noteRoamed(_ keys: Set<String>, lockTimeout: Double = 10) throws(PreferencesFault) {
    if keys.isSubset(of: file.roamedKeys()) { return }
    try LockedPreferenceFile(file, timeout: lockTimeout).markUnsent([:], roamed: keys)
  }

  /// Takes away the marks of keys that the store has got, but for those that were edited later.
  public func settleUnsent(_ keys: Set<String>, before time: Int64) {
    let marked = file.unsentEdits().filter { keys.contains($0.key) && $0.value.time <= time }
    // A mark too many is looked at again.
    try? file.settleUnsent(marked.mapValues(\.time))
  }

  /// Marks edits that the domain's file has and its synced store could not take, so that the next process which opens the
  /// store offers them to it.
  /// - Throws: `.busy` or `.unwritable`.
  public func markUnsent(_ edits: [String: UnsentEdit], lockTimeout: Double = 10) throws(PreferencesFault) {
    try LockedPreferenceFile(file, timeout: lockTimeout).markUnsent(edits)
  }
}
