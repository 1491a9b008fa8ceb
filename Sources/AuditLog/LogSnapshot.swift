import LinuxFiles

/// The files of a log as they are at one moment: between two appends where the lock can be had, else as they come.
struct LogSnapshot {
  struct Segment {
    let name: SegmentName
    /// Bytes that belong to the snapshot; what was appended later does not.
    let size: Int
  }

  var anchor: Anchor.Reading
  /// Why the anchor could not be read, where that is so.
  var anchorFault: AuditLogError?
  var segments: [Segment]
  /// Names of files that look like segments and are none.
  var strangers: [String]
  /// Whether no writer was at work meanwhile.
  var isLocked: Bool

  init(of place: AuditLogPlace) throws(AuditLogError) {
    var lock: FileLock?
    // Readers that are not root can't have the lock; then a line may be half-written.
    if (try? FileMetadata.of(place.lock, followingLinks: false)) != nil {
      lock = try? FileLock.exclusive(place.lock, timeout: 10)
    }
    isLocked = lock != nil
    // The anchor first: without the lock, the log may then only be ahead of it.
    anchor = .missing
    do throws(AuditLogError) { anchor = try place.readAnchor().reading } catch { anchorFault = error }
    segments = []
    strangers = []
    do throws(FileError) {
      for name in try Directory.names(in: place.directory) {
        if let segment = SegmentName(name) {
          let size = try FileMetadata.of(place.path(name), followingLinks: false).size
          segments.append(Segment(name: segment, size: Int(size)))
        } else if name.hasPrefix(SegmentName.prefix), name.hasSuffix(SegmentName.suffix) {
          strangers.append(name)
        }
      }
    } catch {
      if error.errno != .noSuchFile { throw AuditLogError(error) }
    }
    segments.sort { $0.name < $1.name }
    _ = consume lock
  }

  /// A segment's bytes, as far as they belong to the snapshot.
  static func bytes(_ segment: Segment, in place: AuditLogPlace) throws(AuditLogError) -> [UInt8] {
    let path = place.path(segment.name.segment)
    let file = try place.open(path, .readOnly)
    do throws(Errno) { return try SegmentScan.read(file, at: 0, count: segment.size) } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
  }

  /// The personal parts beside a segment; empty where there are none.
  static func personalBytes(_ name: SegmentName, in place: AuditLogPlace) throws(AuditLogError) -> [UInt8] {
    let path = place.path(name.personal)
    do throws(AuditLogError) {
      let file = try place.open(path, .readOnly)
      do throws(Errno) { return try file.readToEnd() } catch {
        throw AuditLogError(FileError("read", path: path, errno: error))
      }
    } catch {
      if case .file(let failure) = error.reason, failure.errno == .noSuchFile { return [] }
      throw error
    }
  }
}
