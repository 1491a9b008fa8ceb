import LinuxFiles

/// Which users may be one person: `/etc/subuid` gives an account ids of its own, each of which the kernel shows as a user.
///
/// The law: shares are counted for each user, and that is enough as long as there is room for everybody. When there is none,
/// somebody has many shares: whoever holds the most connections, all ids of an account together, loses the one that has been
/// silent longest. An account's own id counts apart from the ids that it was given: which id a name has only the name service
/// knows, and the agent's loop does not wait for that.
struct UserGroups {
  /// A connection that may have to go.
  struct Connection: Hashable {
    let user: UInt32
    let descriptor: Int32
    let lastHeard: Moment
    /// Its records are not written yet.
    let isWaiting: Bool
  }

  private enum Group: Hashable {
    case user(UInt32)
    case subordinates(of: String)
  }

  private let path: String
  private var ranges: [(name: String, ids: ClosedRange<UInt32>)] = []
  /// Of the file that the ranges were read from.
  private var version: FileMetadata?

  /// - Parameter path: lines `NAME:FIRST:COUNT`; where there is none, each user is alone.
  init(path: String = "/etc/subuid") { self.path = path }

  /// Of connections for which there is no room, the one to close; nil where all wait.
  ///
  /// - Complexity: O(connections × ranges).
  mutating func dispensable(of connections: [Connection]) -> Connection? {
    look()
    let groups = Dictionary(grouping: connections) { group(of: $0.user) }
    let candidates = groups.values.compactMap { group in
      group.filter { !$0.isWaiting }.min { $0.lastHeard < $1.lastHeard }.map { (size: group.count, longest: $0) }
    }
    return candidates.max { ($0.size, -$0.longest.lastHeard) < ($1.size, -$1.longest.lastHeard) }?.longest
  }

  private func group(of user: UInt32) -> Group {
    ranges.first { $0.ids.contains(user) }.map { .subordinates(of: $0.name) } ?? .user(user)
  }

  /// Reads the file again where it is another than before.
  private mutating func look() {
    let found = try? FileMetadata.of(path)
    if found == version { return }
    version = found
    ranges = (try? WholeFile.read(path, limit: 1 << 20)).map { Self.ranges(in: $0.bytes) } ?? []
  }

  /// What is no line of such a file is passed over.
  static func ranges(in bytes: [UInt8]) -> [(name: String, ids: ClosedRange<UInt32>)] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 3, let first = UInt32(parts[1]), let count = UInt32(parts[2]), count > 0 else { return nil }
      return (String(parts[0]), first...(first.addingReportingOverflow(count - 1).overflow ? .max : first + count - 1))
    }
  }
}
