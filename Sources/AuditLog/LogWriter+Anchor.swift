import LinuxFiles

/// The anchor's file, open.
final class OpenAnchor {
  let file: FileDescriptor
  init(_ file: consuming FileDescriptor) { self.file = file }
}

extension LogWriter {
  /// Moves the anchor to the end of the log: in place, so that a full disk is no hindrance.
  ///
  /// - Parameter waiting: whether it is on the disk when this returns. It is in any case where it says anything new but where
  ///   the log ends.
  func publishAnchor(waiting: Bool) throws(AuditLogError) {
    anchor.tip = tip
    anchor.count += 1
    let waits = waiting || !anchor.differsInItsEndAlone(from: published)
    if anchorIsThere {
      try writeInPlace(waiting: waits)
    } else {
      let path = place.anchor
      let bytes = anchor.count % 2 == 0 ? anchor.file : Array(anchor.file.suffix(Anchor.slotBytes)) + anchor.slot
      try operations.performing(.rename, path, byteCount: bytes.count) { () throws(FileError) in
        try AtomicReplacement.write(bytes, to: path, mode: 0o600)
      }
      anchorIsThere = true
      try? Directory.removeFile(place.anchorLeftBehind)
    }
    published = anchor
    if waits { isUnsettled = false }
  }

  private func writeInPlace(waiting: Bool) throws(AuditLogError) {
    let path = place.anchor
    let open = try openAnchor()
    try operations.perform(.write, path, byteCount: Anchor.slotBytes, offset: anchor.offset) { () throws(Errno) in
      try open.file.write(anchor.slot, at: anchor.offset)
    }
    if waiting {
      try operations.perform(.synchronize, path) { () throws(Errno) in try open.file.synchronizeContents() }
    } else {
      // The lines are on the disk; when this gets there is nobody's concern but that it is on its way.
      do throws(Errno) { try open.file.beginWriteBack() } catch {
        throw AuditLogError(FileError("write back", path: path, errno: error))
      }
    }
  }

  /// Has the disk take the anchor of the group before, so that the wait for this group makes it durable with it.
  func finishAnchor() throws(AuditLogError) {
    guard anchorIsThere else { return }
    let open = try openAnchor()
    try operations.perform(.writeBack, place.anchor) { () throws(Errno) in try open.file.finishWriteBack() }
  }

  private func openAnchor() throws(AuditLogError) -> OpenAnchor {
    if let anchorFile { return anchorFile }
    let open = OpenAnchor(try place.open(place.anchor, .writeOnly))
    anchorFile = open
    return open
  }

  func leaveAnchorBehind() throws(AuditLogError) {
    try operations.performing(.rename, place.anchorLeftBehind) { () throws(FileError) in
      try AtomicReplacement.write(anchor.file, to: place.anchorLeftBehind, mode: 0o600)
    }
  }
}

extension Anchor {
  func differsInItsEndAlone(from other: Anchor) -> Bool {
    var same = self
    same.tip = other.tip
    same.count = other.count
    return same == other
  }
}
