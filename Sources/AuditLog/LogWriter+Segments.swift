import AuditEvents
import LinuxFiles
import PropertyList

/// Where one segment ends and the next begins.
extension LogWriter {
  func isDue(with records: [AuditRecord]) throws(AuditLogError) -> Bool {
    guard let segment else { return false }
    if segment.size >= place.limits.segmentBytes { return true }
    if records.contains(where: \.isPersonal), let personal = try segment.personalFile(in: place, creating: false),
      personal.size >= place.limits.segmentBytes
    {
      return true
    }
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
  func begin(with record: AuditRecord) throws(AuditLogError) {
    let text = LineWriter(after: tip, host: place.host, textBytes: place.limits.textBytes)
    text.add([record])
    let name = SegmentName(first: tip.sequence + 1)
    let path = place.path(name.segment)
    let temporary = place.path("." + name.segment + ".tmp")
    do throws(AuditLogError) {
      try operations.perform(.create, temporary) { () throws(Errno) in }
      let file = try place.open(temporary, [.readWrite, .create, .truncate])
      try setOwner(of: file, temporary)
      try operations.perform(.write, temporary, byteCount: text.lines.count) { () throws(Errno) in
        try file.write(text.lines.bytes, at: 0)
      }
      try operations.perform(.synchronize, temporary) { () throws(Errno) in try file.synchronize() }
      try operations.performing(.rename, path, from: temporary) { () throws(FileError) in
        try Directory.rename(temporary, to: path)
      }
      segment = OpenSegment(name: name, size: text.lines.count, began: record.time, file: file)
      tip = text.tip
      isUnsettled = true
      if record.kind == .auditAlarm, anchor.alarm == 0 { anchor.alarm = tip.sequence }
      try synchronizeDirectory()
    } catch {
      try? Directory.removeFile(temporary)
      throw error
    }
  }
}
