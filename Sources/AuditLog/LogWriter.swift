import AuditEvents
import LinuxFiles
import PropertyList

/// The one writer, for as long as it holds the log's lock.
///
/// The order of writing is the law of this file:
///
/// 1. Personal parts, then the lines, are written, and the disk is waited for once, for both. Only then are they acknowledged,
///    so what a crash leaves of either alone was never acknowledged, and `LogEnd` cuts it off.
/// 2. The anchor is written when the lines are on the disk, never before: a log that is ahead of its anchor is what a crash
///    leaves, a log that is behind was tampered with.
/// 3. The anchor itself is waited for where it says more than where the log ends, after every administrative record and every
///    new segment. Of other groups it only begins its way to the disk, and the wait for the next group makes it durable: a
///    power cut takes it back by one group at most.
/// 4. What a killed writer left is made durable before anything is written behind it.
final class LogWriter {
  let place: AuditLogPlace
  let operations: LogOperations
  private let lock: FileLock

  var anchor: Anchor
  /// As the anchor was read or written last.
  var published: Anchor
  var anchorIsThere: Bool
  var anchorFile: OpenAnchor?
  /// Where the next record goes; nil: a new segment has to begin.
  var segment: OpenSegment?
  /// The end of the chain.
  var tip: LogTip
  /// What the log has to say of itself before anything else is appended.
  var pending: [AuditRecord] = []
  var alarms: [String] = []
  /// Files of cut-off lines of which `pending` tells.
  var untold: [String] = []
  /// A segment began, or a crash was recovered from: the next anchor is waited for.
  var isUnsettled = false

  init(_ place: AuditLogPlace, _ operations: LogOperations, patience: Double) throws(AuditLogError) {
    self.place = place
    self.operations = operations
    if (try? FileMetadata.of(place.directory, followingLinks: false)) == nil {
      try operations.performing(.makeDirectory, place.directory) { () throws(FileError) in
        try Directory.createAll(FilePath.parent(of: place.directory))
        try Directory.create(place.directory, mode: 0o750)
      }
    }
    try place.checkDirectory()
    lock = try Self.takeLock(of: place, patience)
    let found = try LogEnd(of: place, operations)
    anchor = found.anchor
    published = found.anchor
    anchorIsThere = found.anchorIsThere
    tip = found.tip
    pending = found.pending
    alarms = found.alarms
    untold = found.untold
    if let name = found.segment { segment = try OpenSegment(name, in: place) }
    if !tip.isSameRecord(as: anchor.tip) { try settle() }
    // A log without an anchor gets one before its first record, so that it is never taken for one that lost its anchor.
    if found.isNew { try publishAnchor(waiting: true) }
  }

  private static func takeLock(of place: AuditLogPlace, _ patience: Double) throws(AuditLogError) -> FileLock {
    do throws(FileError) { return try FileLock.exclusive(place.lock, timeout: patience) } catch {
      throw AuditLogError(error)
    }
  }

  /// Makes durable what a killed writer left: nothing may be acknowledged behind what could still go away.
  private func settle() throws(AuditLogError) {
    isUnsettled = true
    guard let segment else { return }
    let path = place.path(segment.name.segment)
    try operations.perform(.synchronize, path) { () throws(Errno) in try segment.file.synchronize() }
    if let personal = try segment.personalFile(in: place, creating: false) {
      try operations.perform(.synchronize, personal.path) { () throws(Errno) in try personal.file.synchronize() }
    }
    try synchronizeDirectory()
  }

  func synchronizeDirectory() throws(AuditLogError) {
    try operations.performing(.synchronize, place.directory) { () throws(FileError) in
      try Directory.synchronize(place.directory)
    }
  }

  // MARK: Appending

  @discardableResult
  func append(_ records: [AuditRecord], acknowledging: Bool = false) throws(AuditLogError) -> AuditReceipt {
    var batch = pending.isEmpty ? records : pending + records
    var told: [String] = []
    swap(&told, &untold)
    pending = []
    guard !batch.isEmpty || anchor.dropped > 0 || !anchor.tip.isSameRecord(as: tip) else {
      return AuditReceipt(sequence: tip.sequence, hash: tip.hash, dropped: 0, alarms: [])
    }
    try announce(batch)
    if segment == nil {
      try begin(with: batch.removeFirst())
    } else if try isDue(with: records) {
      // A disk that is full keeps the segment in use.
      let before = tip
      do throws(AuditLogError) { try rotate() } catch { if error.reason != .full || tip != before { throw error } }
    }
    let before = (count: anchor.dropped, since: anchor.droppedSince)
    var dropped = 0
    if try !reserve(for: batch) {
      dropped = drop(from: &batch)
    } else if anchor.dropped > 0 {
      batch.insert(droppedRecord(), at: 0)
      anchor.dropped = 0
      anchor.droppedSince = nil
    }
    do throws(AuditLogError) { try write(batch) } catch {
      guard error.reason == .full, batch.contains(where: { !$0.isAdministrative }) else { throw error }
      // The room was not there after all, so nothing is told of either.
      batch.removeAll { $0.kind == .auditDropped }
      (anchor.dropped, anchor.droppedSince) = before
      dropped += drop(from: &batch)
      try write(batch)
    }
    if acknowledging { anchor.alarm = 0 }
    anchor.announced = 0
    try publishAnchor(waiting: isUnsettled || batch.indices.contains { batch[$0].isAdministrative })
    try tell(told)
    defer { alarms = [] }
    return AuditReceipt(sequence: tip.sequence, hash: tip.hash, dropped: dropped, alarms: alarms)
  }

  /// Tells the anchor of records that excuse something before they are written (`Anchor.announced`). A rotation may come
  /// before them.
  private func announce(_ batch: [AuditRecord]) throws(AuditLogError) {
    guard !batch.isEmpty, batch.indices.contains(where: { LogLine.excuses(batch[$0].kind.rawValue.utf8) }) else {
      return
    }
    anchor.announced = tip.sequence + UInt64(batch.count) + 1
    try publishAnchor(waiting: true)
  }

  private func write(_ batch: [AuditRecord]) throws(AuditLogError) {
    guard let segment, !batch.isEmpty else { return }
    let text = LineWriter(after: tip, host: place.host, textBytes: place.limits.textBytes)
    text.add(batch)
    let personal =
      !text.personal.isEmpty ? try segment.personalFile(in: place, creating: true) : nil
    let before = (lines: segment.size, personal: personal?.size ?? 0, isTorn: personal?.isTorn ?? false)
    do throws(AuditLogError) {
      if let personal { try write(text.personal, to: personal) }
      let path = place.path(segment.name.segment)
      try operations.perform(.write, path, byteCount: text.lines.count, offset: segment.size) { () throws(Errno) in
        try segment.file.write(text.lines.bytes, at: segment.size)
      }
      try finishAnchor()
      if let personal {
        try operations.perform(.synchronize, path, with: personal.path) { () throws(Errno) in
          try FileDescriptor.synchronizeContents(of: personal.file, and: segment.file)
        }
        // Its name has to be on the disk as well.
        if before.personal == 0 { try synchronizeDirectory() }
      } else {
        try operations.perform(.synchronize, path) { () throws(Errno) in try segment.file.synchronizeContents() }
      }
    } catch {
      // Half a line is no harm, the next writer cuts it off; but what failed should not be found in the log.
      try? segment.file.setSize(before.lines)
      if let personal {
        try? personal.file.setSize(before.personal)
        (personal.size, personal.isTorn) = (before.personal, before.isTorn)
      }
      throw error
    }
    segment.size += text.lines.count
    if anchor.alarm == 0, let index = batch.indices.first(where: { batch[$0].kind == .auditAlarm }) {
      anchor.alarm = tip.sequence + UInt64(index) + 1
    }
    tip = text.tip
  }

  private func write(_ pieces: [PersonalLines], to personal: PersonalFile) throws(AuditLogError) {
    if personal.size == 0 { try setOwner(of: personal.file, personal.path) }
    // What a crash left of a line ends there.
    let start = personal.size + (personal.isTorn ? 1 : 0)
    let end = pieces.reduce(start) { $0 + $1.lines.count }
    try operations.perform(.write, personal.path, byteCount: end - personal.size, offset: personal.size) {
      () throws(Errno) in
      if personal.isTorn { try personal.file.write([UInt8(ascii: "\n")], at: personal.size) }
      var place = start
      for piece in pieces {
        try personal.file.write(piece.lines.bytes, at: place)
        place += piece.lines.count
      }
    }
    personal.size = end
    personal.isTorn = false
  }

  func setOwner(of file: borrowing FileDescriptor, _ path: String) throws(AuditLogError) {
    guard let group = place.auditors, ProcessIdentity.effectiveUserID == 0 else { return }
    do throws(Errno) { try file.setOwner(user: 0, group: group) } catch {
      throw AuditLogError(FileError("set the owner of", path: path, errno: error))
    }
  }

  /// What was cut off has its record now.
  private func tell(_ names: [String]) throws(AuditLogError) {
    for name in names {
      let path = place.path(name)
      let told = place.path(LogEnd.toldName(of: name))
      try operations.performing(.rename, told, from: path) { () throws(FileError) in
        try Directory.rename(path, to: told)
      }
    }
  }
}
