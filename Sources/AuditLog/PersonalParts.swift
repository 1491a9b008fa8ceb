import Digests
import LinuxFiles

/// The personal parts beside a segment, by the digests of their lines.
struct PersonalParts {
  private(set) var lines: [[UInt8]: [UInt8]] = [:]

  /// What is no whole line of ours belongs to no record, and is passed over.
  init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) { lines[SHA256.digest(of: Array(line))] = Array(line) }
  }
}

/// The digests of the personal parts beside a segment, in the order of the file; taken on a thread of their own, while the lines
/// are walked.
final class PersonalDigests {
  typealias Digest = SIMD4<UInt64>

  /// What the other thread does; the results are read when it is done.
  private final class Reading: @unchecked Sendable {
    private let stream: LineStream
    private(set) var digests: [Digest] = []
    private(set) var failure: AuditLogError?

    init(_ stream: LineStream) { self.stream = stream }

    func run() {
      let hash = SHA256()
      do throws(AuditLogError) {
        while let part = try stream.next() {
          var digest = Digest()
          withUnsafeMutableBytes(of: &digest) { hash.digest(part, into: $0) }
          digests.append(digest)
        }
      } catch {
        failure = error
      }
    }
  }

  private let reading: Reading?
  private var thread: ThreadBeside?

  /// - Throws: where the file can't be opened; one that is not there has no parts.
  init(_ name: SegmentName, in place: AuditLogPlace) throws(AuditLogError) {
    do throws(AuditLogError) {
      let reading = Reading(try LineStream(place.path(name.personal), in: place))
      self.reading = reading
      thread = ThreadBeside { reading.run() }
    } catch {
      guard case .file(let failure) = error.reason, failure.errno == .noSuchFile else { throw error }
      reading = nil
    }
  }

  deinit { thread?.wait() }

  /// Which of some digests no part has. As a rule each is the next one in the file.
  /// - Returns: their places in the list.
  func missing(of asked: [Digest]) throws(AuditLogError) -> [Int] {
    thread?.wait()
    thread = nil
    if let failure = reading?.failure { throw failure }
    let digests = reading?.digests ?? []
    var missing: [Int] = []
    var passed: Set<Digest> = []
    var next = 0
    for (index, digest) in asked.enumerated() {
      if !passed.isEmpty, passed.contains(digest) { continue }
      // What is passed over came before it was asked for, or no record asks for it.
      while next < digests.count, digests[next] != digest {
        passed.insert(digests[next])
        next += 1
      }
      if next < digests.count { next += 1 } else { missing.append(index) }
    }
    return missing
  }
}
