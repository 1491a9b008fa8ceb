import AuditEvents
import Glibc
import LinuxFiles
import PropertyList

/// The one writer, for as long as it holds the log's lock.
///
/// The order of writing is the law of this file: personal parts, then the lines, then the anchor, each on the disk before the
/// next begins. So a line never lacks its personal part, and the anchor never counts what is not there: a log that is ahead
/// of its anchor is what a crash leaves, a log that is behind was tampered with.
final class LogWriter {
  let place: AuditLogPlace
  let operations: LogOperations
  private let lock: FileLock

  var anchor: Anchor
  var anchorIsThere: Bool
  /// Where the next record goes; nil: a new segment has to begin.
  var segment: OpenSegment?
  /// The end of the chain.
  var tip: LogTip
  /// What the log has to say of itself before anything else is appended.
  var pending: [AuditRecord] = []
  var alarms: [String] = []
  /// Files of cut-off lines of which `pending` tells.
  var untold: [String] = []

  final class OpenSegment {
    let name: SegmentName
    var size: Int
    let began: PropertyListDate?
    let file: FileDescriptor

    init(name: SegmentName, size: Int, began: PropertyListDate?, file: consuming FileDescriptor) {
      self.name = name
      self.size = size
      self.began = began
      self.file = file
    }
  }

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
    anchorIsThere = found.anchorIsThere
    tip = found.tip
    pending = found.pending
    alarms = found.alarms
    untold = found.untold
    if let name = found.segment {
      let file = try place.open(place.path(name.segment), .readWrite)
      do throws(Errno) {
        let began = try SegmentScan.firstLine(of: file).flatMap { $0.withUnsafeBytes { LogTip(line: $0)?.time } }
        segment = OpenSegment(name: name, size: Int(try file.metadata().size), began: began, file: file)
      } catch {
        throw AuditLogError(FileError("read", path: place.path(name.segment), errno: error))
      }
    }
    // A log without an anchor gets one before its first record, so that it is never taken for one that lost its anchor.
    if found.isNew { try publishAnchor() }
  }

  private static func takeLock(of place: AuditLogPlace, _ patience: Double) throws(AuditLogError) -> FileLock {
    do throws(FileError) { return try FileLock.exclusive(place.lock, timeout: patience) } catch {
      throw AuditLogError(error)
    }
  }

  // MARK: Appending

  @discardableResult
  func append(_ records: [AuditRecord], acknowledging: Bool = false) throws(AuditLogError) -> AuditReceipt {
    var batch = pending + records
    var told: [String] = []
    swap(&told, &untold)
    pending = []
    guard !batch.isEmpty || anchor.dropped > 0 || anchor.tip != tip else {
      return AuditReceipt(sequence: tip.sequence, hash: tip.hash, dropped: 0, alarms: [])
    }
    if segment == nil {
      try begin(with: batch.removeFirst())
    } else if isDue(with: records) {
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
    try publishAnchor()
    try tell(told)
    defer { alarms = [] }
    return AuditReceipt(sequence: tip.sequence, hash: tip.hash, dropped: dropped, alarms: alarms)
  }

  /// Counts the records that may not have the reserve, and leaves them out.
  private func drop(from batch: inout [AuditRecord]) -> Int {
    let kept = batch.filter(\.isAdministrative)
    let dropped = batch.count - kept.count
    if dropped > 0 {
      anchor.dropped += UInt64(dropped)
      anchor.droppedSince = anchor.droppedSince ?? AuditRecord.own(.auditDropped, fields: [:]).time
    }
    batch = kept
    return dropped
  }

  private func droppedRecord() -> AuditRecord {
    var fields: [String: PropertyListValue] = ["count": .integer(PropertyListInteger(anchor.dropped))]
    if let since = anchor.droppedSince { fields["since"] = .date(since) }
    return .own(.auditDropped, fields: fields)
  }

  private func write(_ batch: [AuditRecord]) throws(AuditLogError) {
    if batch.isEmpty { return }
    var lines = LineWriter(after: tip, host: place.host, textBytes: place.limits.textBytes)
    for record in batch {
      lines.add(record)
      if record.kind == .auditAlarm, anchor.alarm == 0 { anchor.alarm = lines.tip.sequence }
    }
    let name = segment!.name
    try writePersonal(lines.personalLines, beside: name)
    let path = place.path(name.segment)
    let size = segment!.size
    do throws(AuditLogError) {
      try operations.perform(.write, path, byteCount: lines.lines.count, offset: size) { () throws(Errno) in
        try segment!.file.write(lines.lines, at: size)
      }
      try operations.perform(.synchronize, path) { () throws(Errno) in try segment!.file.synchronizeContents() }
    } catch {
      // Half a line is no harm, the next writer cuts it off; but what failed should not be found in the log.
      try? segment!.file.setSize(size)
      throw error
    }
    segment!.size += lines.lines.count
    tip = lines.tip
  }

  private func writePersonal(_ lines: [UInt8], beside name: SegmentName) throws(AuditLogError) {
    if lines.isEmpty { return }
    let path = place.path(name.personal)
    let file = try place.open(path, [.readWrite, .create])
    try setOwner(of: file, path)
    let size: Int
    let isTorn: Bool
    do throws(Errno) {
      size = Int(try file.metadata().size)
      let last = size > 0 ? try SegmentScan.read(file, at: size - 1, count: 1).first : nil
      isTorn = last.map { $0 != UInt8(ascii: "\n") } ?? false
    } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
    do throws(AuditLogError) {
      try operations.perform(.write, path, byteCount: lines.count, offset: size) { () throws(Errno) in
        // What a crash left of a line ends there.
        try file.write((isTorn ? [UInt8(ascii: "\n")] : []) + lines, at: size)
      }
      try operations.perform(.synchronize, path) { () throws(Errno) in try file.synchronizeContents() }
    } catch {
      try? file.setSize(size)
      throw error
    }
  }

  /// - Returns: false where the disk has no room for these records and the reserve behind them.
  private func reserve(for batch: [AuditRecord]) throws(AuditLogError) -> Bool {
    // A guess from above: what is reserved too much serves the next records.
    let guess = batch.reduce(0) { $0 + 512 + 64 * $1.fields.count }
    let name = segment!.name
    if batch.contains(where: \.isPersonal) {
      let path = place.path(name.personal)
      let file = try place.open(path, [.readWrite, .create])
      guard let size = try? file.metadata().size, try reserve(guess, at: Int(size), of: file, path) else {
        return false
      }
    }
    return try reserve(
      guess + place.limits.reserveBytes, at: segment!.size, of: segment!.file, place.path(name.segment))
  }

  private func reserve(
    _ count: Int, at offset: Int, of file: borrowing FileDescriptor, _ path: String
  ) throws(AuditLogError) -> Bool {
    do throws(AuditLogError) {
      try operations.perform(.reserve, path) { () throws(Errno) in try file.reserve(at: offset, count: count) }
      return true
    } catch {
      if error.reason == .full { return false }
      // File systems without such room: what is written finds its own.
      if case .file(let failure) = error.reason, failure.errno == .notSupported || failure.errno.rawValue == ENOSYS {
        return true
      }
      throw error
    }
  }

  // MARK: Segments

  private func isDue(with records: [AuditRecord]) -> Bool {
    guard let segment else { return false }
    if segment.size >= place.limits.segmentBytes { return true }
    guard let began = segment.began, let now = records.last?.time else { return false }
    return now.unixTime - began.unixTime >= place.limits.segmentSeconds
  }

  /// Begins a new segment with a record that tells how the one before ended. A segment of one record stays.
  func rotate() throws(AuditLogError) {
    guard let before = segment?.name, tip.sequence > before.first else { return }
    let fields: [String: PropertyListValue] = [
      "log": .string(anchor.log), "previous": .string(before.segment),
      "records": .integer(PropertyListInteger(tip.sequence - before.first + 1)),
      "bytes": .integer(PropertyListInteger(segment!.size)),
    ]
    try begin(with: .own(.auditRotated, fields: fields))
  }

  /// A new segment with its first record, which comes into being whole.
  private func begin(with record: AuditRecord) throws(AuditLogError) {
    var lines = LineWriter(after: tip, host: place.host, textBytes: place.limits.textBytes)
    lines.add(record)
    let name = SegmentName(first: lines.tip.sequence)
    let path = place.path(name.segment)
    let temporary = place.path("." + name.segment + ".tmp")
    do throws(AuditLogError) {
      try operations.perform(.create, temporary) { () throws(Errno) in }
      let file = try place.open(temporary, [.readWrite, .create, .truncate])
      try setOwner(of: file, temporary)
      try operations.perform(.write, temporary, byteCount: lines.lines.count) { () throws(Errno) in
        try file.write(lines.lines, at: 0)
      }
      try operations.perform(.synchronize, temporary) { () throws(Errno) in try file.synchronize() }
      try operations.performing(.rename, path) { () throws(FileError) in try Directory.rename(temporary, to: path) }
      segment = OpenSegment(name: name, size: lines.lines.count, began: record.time, file: file)
      tip = lines.tip
      if record.kind == .auditAlarm, anchor.alarm == 0 { anchor.alarm = tip.sequence }
      try operations.performing(.synchronize, place.directory) { () throws(FileError) in
        try Directory.synchronize(place.directory)
      }
    } catch {
      try? Directory.removeFile(temporary)
      throw error
    }
  }

  private func setOwner(of file: borrowing FileDescriptor, _ path: String) throws(AuditLogError) {
    guard let group = place.auditors, ProcessIdentity.effectiveUserID == 0 else { return }
    do throws(Errno) { try file.setOwner(user: 0, group: group) } catch {
      throw AuditLogError(FileError("set the owner of", path: path, errno: error))
    }
  }

  // MARK: The anchor

  /// Moves the anchor to the end of the log: in place, so that a full disk is no hindrance.
  func publishAnchor() throws(AuditLogError) {
    anchor.tip = tip
    anchor.count += 1
    let path = place.anchor
    guard anchorIsThere else {
      let bytes = anchor.count % 2 == 0 ? anchor.file : Array(anchor.file.suffix(Anchor.slotBytes)) + anchor.slot
      try operations.performing(.rename, path, byteCount: bytes.count) { () throws(FileError) in
        try AtomicReplacement.write(bytes, to: path, mode: 0o600)
      }
      anchorIsThere = true
      try? Directory.removeFile(place.anchorLeftBehind)
      return
    }
    let file = try place.open(path, .writeOnly)
    try operations.perform(.write, path, byteCount: Anchor.slotBytes, offset: anchor.offset) { () throws(Errno) in
      try file.write(anchor.slot, at: anchor.offset)
    }
    try operations.perform(.synchronize, path) { () throws(Errno) in try file.synchronizeContents() }
  }

  func leaveAnchorBehind() throws(AuditLogError) {
    try operations.performing(.rename, place.anchorLeftBehind) { () throws(FileError) in
      try AtomicReplacement.write(anchor.file, to: place.anchorLeftBehind, mode: 0o600)
    }
  }

  /// What was cut off has its record now.
  private func tell(_ names: [String]) throws(AuditLogError) {
    for name in names {
      let path = place.path(name)
      try operations.performing(.rename, path) { () throws(FileError) in
        try Directory.rename(path, to: place.path(LogEnd.toldName(of: name)))
      }
    }
  }
}
