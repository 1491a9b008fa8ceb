import AuditEvents
import Digests
import LinuxFiles
import PropertyList

/// What `setAside` did.
public struct SettingAside: Sendable, Hashable {
  /// Where the log is that did not verify: a folder below the log's own.
  public let folder: String
  /// How many files are in it, without their list.
  public let files: Int
  /// The last record that is in it.
  public let through: UInt64
  /// Of the list of the files' digests, which is `SHA256SUMS` in the folder.
  public let digest: [UInt8]
}

extension AuditLog {
  /// Puts a log that does not verify into a folder of its own, as it is, and goes on behind it.
  ///
  /// The law: nothing of it is lost, and nothing of it is sound from then on. Numbers go on, and so does the chain: the first
  /// record behind it (`audit.set-aside`) names the folder, the digest of the list of its files' digests, what was found,
  /// and why somebody let it go; `verify` tells of it for as long as that record is there. First all files have a second
  /// name in the folder, then the record is on the disk, announced by the anchor; only then they lose their first names,
  /// oldest first. Who is ended on the way leaves a log that does not verify still, or one that goes on behind a folder
  /// that has all of it.
  ///
  /// - Parameters:
  ///   - finding: the first thing that is wrong, in words.
  ///   - reason: for the log.
  public func setAside(
    finding: String, reason: String, patience: Double = 30
  ) throws(AuditLogError) -> SettingAside {
    let writer = try LogWriter(place, operations, patience: patience)
    // What a crash left is recovered, what is missing has its alarm: it is set aside with the rest.
    try writer.append([])
    return try writer.setAside(finding: finding, reason: reason)
  }
}

extension LogWriter {
  static let asidePrefix = "aside-"
  private static let sums = "SHA256SUMS"

  fileprivate func setAside(finding: String, reason: String) throws(AuditLogError) -> SettingAside {
    let names = try place.names().filter {
      $0.hasPrefix(SegmentName.prefix) || place.path($0) == place.anchorLeftBehind
    }
    let folder = try freeFolder()
    let (files, digest) = try fill(folder, with: names)
    let through = tip.sequence
    let fields: [String: PropertyListValue] = [
      "log": .string(anchor.log), "through": .integer(PropertyListInteger(through)),
      "hash": .string(HexText.encode(tip.hash)),
      "folder": .string(folder), "files": .integer(PropertyListInteger(files)),
      "digest": .string(HexText.encode(digest)), "finding": .string(finding), "reason": .string(reason),
    ]
    segment = nil
    try append([.own(.auditSetAside, fields: fields)], acknowledging: true)
    for name in names { try removeFirstName(name, folder) }
    try synchronizeDirectory()
    return SettingAside(folder: place.path(folder), files: files, through: through, digest: digest)
  }

  /// `aside-000000000012`, or with a number behind it where that is taken.
  private func freeFolder() throws(AuditLogError) -> String {
    let stem = Self.asidePrefix + SegmentName(first: max(1, tip.sequence)).stem.dropFirst(SegmentName.prefix.count)
    let names = Set(try place.names())
    var number = 1
    func name() -> String { number == 1 ? stem : "\(stem)-\(number)" }
    while names.contains(name()) { number += 1 }
    return name()
  }

  /// Gives each file a second name in a folder, beside a copy of the anchor and the list of all digests.
  /// - Returns: how many files, and the digest of the list.
  private func fill(_ folder: String, with names: [String]) throws(AuditLogError) -> (Int, [UInt8]) {
    // What somebody was ended at has nothing that is not elsewhere.
    let partial = place.path("." + folder)
    try operations.performing(.remove, partial) { () throws(FileError) in
      do throws(FileError) { try Directory.removeTree(partial) } catch {
        if error.errno != .noSuchFile { throw error }
      }
    }
    let opened: OpenDirectory
    try operations.performing(.makeDirectory, partial) { () throws(FileError) in
      _ = try Directory.create(partial, mode: 0o750)
    }
    do throws(FileError) { opened = try OpenDirectory(partial) } catch { throw AuditLogError(error) }
    try setOwner(of: opened.descriptor, partial)
    var list: [(name: String, digest: [UInt8])] = []
    for name in names {
      let metadata = try inspect(name)
      guard metadata.isRegularFile else { continue }
      try operations.performing(.create, FilePath.join(partial, name)) { () throws(FileError) in
        try Directory.link(place.path(name), to: FilePath.join(partial, name))
      }
      list.append((name, try digest(of: FilePath.join(partial, name))))
    }
    let anchorBytes = anchor.file
    try operations.performing(.rename, partial + "/audit-anchor", byteCount: anchorBytes.count) {
      () throws(FileError) in
      try AtomicReplacement.write(anchorBytes, to: partial + "/audit-anchor", mode: 0o600)
    }
    list.append(("audit-anchor", SHA256.digest(of: anchorBytes)))
    // As sha256sum(1) writes and checks it.
    let text = list.map { "\(HexText.encode($0.digest))  \($0.name)\n" }.joined()
    try operations.performing(.rename, FilePath.join(partial, Self.sums), byteCount: text.utf8.count) {
      () throws(FileError) in
      try AtomicReplacement.write(
        Array(text.utf8), to: FilePath.join(partial, Self.sums), mode: 0o640,
        owner: ProcessIdentity.effectiveUserID == 0 ? place.auditors.map { .init(userID: 0, groupID: $0) } : nil)
    }
    try operations.performing(.synchronize, partial) { () throws(FileError) in try Directory.synchronize(partial) }
    try operations.performing(.rename, place.path(folder), from: partial) { () throws(FileError) in
      try Directory.rename(partial, to: place.path(folder))
    }
    try synchronizeDirectory()
    return (list.count, SHA256.digest(of: Array(text.utf8)))
  }

  private func inspect(_ name: String) throws(AuditLogError) -> FileMetadata {
    do throws(FileError) { return try FileMetadata.of(place.path(name), followingLinks: false) } catch {
      throw AuditLogError(error)
    }
  }

  /// Of a file of any size.
  private func digest(of path: String) throws(AuditLogError) -> [UInt8] {
    do throws(FileError) {
      let file = try FileDescriptor.open(path, [.noFollow, .nonBlocking])
      do throws(Errno) {
        var sum = SHA256()
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var offset = 0
        while true {
          var failure: Errno?
          let count = bytes.withUnsafeMutableBytes { memory -> Int in
            do throws(Errno) { return try file.read(into: memory, at: offset) } catch {
              failure = error
              return 0
            }
          }
          if let failure { throw failure }
          if count == 0 { break }
          bytes.withUnsafeBytes { sum.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
          offset += count
        }
        return sum.finish()
      } catch {
        throw FileError("read", path: path, errno: error)
      }
    } catch {
      throw AuditLogError(error)
    }
  }

  /// Takes the file's name in the log's folder away. What is no file, and has no second name, is moved.
  private func removeFirstName(_ name: String, _ folder: String) throws(AuditLogError) {
    let path = place.path(name)
    if try inspect(name).isRegularFile {
      try operations.performing(.remove, path) { () throws(FileError) in try Directory.removeFile(path) }
    } else {
      let other = FilePath.join(place.path(folder), name)
      try operations.performing(.rename, other, from: path) { () throws(FileError) in
        try Directory.rename(path, to: other)
      }
    }
    try synchronizeDirectory()
  }
}
