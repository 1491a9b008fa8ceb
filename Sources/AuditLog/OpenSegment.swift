import LinuxFiles
import PropertyList

/// The segment that takes the next records, and what stands beside it.
final class OpenSegment {
  let name: SegmentName
  var size: Int
  /// When its first record was written; nil where that line can't be read.
  let began: PropertyListDate?
  let file: FileDescriptor
  private var personal: PersonalFile?

  /// One that has just been made.
  init(name: SegmentName, size: Int, began: PropertyListDate?, file: consuming FileDescriptor) {
    self.name = name
    self.size = size
    self.began = began
    self.file = file
  }

  /// One that is there.
  init(_ name: SegmentName, in place: AuditLogPlace) throws(AuditLogError) {
    let path = place.path(name.segment)
    let file = try place.open(path, .readWrite)
    self.name = name
    do throws(Errno) {
      began = try SegmentScan.firstLine(of: file).flatMap { line in
        line.withUnsafeBytes { bytes in
          LogLine(bytes).flatMap { PropertyListDate(rfc3339: String(decoding: bytes[$0.time], as: UTF8.self)) }
        }
      }
      size = Int(try file.metadata().size)
    } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
    self.file = file
  }

  /// The file of the personal parts; nil where there is none and none is to be made.
  func personalFile(in place: AuditLogPlace, creating: Bool) throws(AuditLogError) -> PersonalFile? {
    if let personal { return personal }
    do throws(AuditLogError) {
      personal = try PersonalFile(place.path(name.personal), in: place, creating: creating)
    } catch {
      if case .file(let failure) = error.reason, failure.errno == .noSuchFile, !creating { return nil }
      throw error
    }
    return personal
  }
}

/// The file of a segment's personal parts.
final class PersonalFile {
  let path: String
  let file: FileDescriptor
  var size: Int
  /// It ends in the middle of a line.
  var isTorn: Bool

  init(_ path: String, in place: AuditLogPlace, creating: Bool) throws(AuditLogError) {
    self.path = path
    let file = try place.open(path, creating ? [.readWrite, .create] : .readWrite)
    do throws(Errno) {
      size = Int(try file.metadata().size)
      let last = size > 0 ? try SegmentScan.read(file, at: size - 1, count: 1).first : nil
      isTorn = last.map { $0 != UInt8(ascii: "\n") } ?? false
    } catch {
      throw AuditLogError(FileError("read", path: path, errno: error))
    }
    self.file = file
  }
}
