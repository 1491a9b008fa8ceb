import Digests
import LinuxFiles
import PropertyList

/// The personal parts beside a segment, by the digests of their lines.
struct PersonalParts {
  private(set) var lines: [[UInt8]: [UInt8]] = [:]

  /// What is no whole line of ours belongs to no record, and is passed over.
  init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) { lines[SHA256.digest(of: Array(line))] = Array(line) }
  }

  func members(_ digest: [UInt8]) -> [String: PropertyListValue]? {
    lines[digest].flatMap { try? PropertyListCoding.decode($0, as: .json).dictionaryValue }
  }
}

/// The personal parts beside a segment, asked for record by record: as a rule each is the next in the file, so that they are
/// walked side by side with the lines and nothing is kept.
final class PersonalWalk {
  private let stream: LineStream?
  private var hash = SHA256()
  private let digest = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA256.byteCount, alignment: 16)
  /// Parts that came before they were asked for, or that no record asks for.
  private var others: Set<SIMD4<UInt64>> = []

  /// - Throws: where the file can't be read; one that is not there has no parts.
  init(_ name: SegmentName, in place: AuditLogPlace) throws(AuditLogError) {
    do throws(AuditLogError) { stream = try LineStream(place.path(name.personal), in: place) } catch {
      guard case .file(let failure) = error.reason, failure.errno == .noSuchFile else { throw error }
      stream = nil
    }
  }

  deinit { digest.deallocate() }

  /// Whether there is a part with the digest whose 64 digits stand at a place of a line.
  func has(_ line: UnsafeRawBufferPointer, digitsAt place: Int) throws(AuditLogError) -> Bool {
    if !others.isEmpty, let key = Self.key(line, at: place), others.contains(key) { return true }
    while let part = try stream?.next() {
      hash.digest(part, into: digest)
      if LogLine.digits(line, at: place, are: UnsafeRawBufferPointer(digest)) { return true }
      others.insert(UnsafeRawBufferPointer(digest).loadUnaligned(as: SIMD4<UInt64>.self))
    }
    return false
  }

  private static func key(_ line: UnsafeRawBufferPointer, at place: Int) -> SIMD4<UInt64>? {
    HexText.decode(line[place..<place + 64])?.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
  }
}
