import ForcedDomain
import Glibc
import LinuxFiles

/// The folders in which a change concerns the agent: where the system tells of changes, it looks at once.
final class Watches {
  struct Changes: Equatable {
    /// The system's own list of accounts or groups.
    var accounts = false
    /// The policies' sources.
    var sources = false
  }

  private let watch: FileWatch
  private var accounts: Int32?
  private var sources: [Int32] = []

  /// nil where the system can't tell of changes.
  init?(_ installation: Installation) {
    do throws(Errno) { watch = try FileWatch() } catch { return nil }
    _ = try? watch.add(directory: installation.stateDirectory)
    accounts = try? watch.add(directory: "/etc")
    // Not the folders in it: those are looked at from time to time.
    if let folder = try? watch.add(directory: installation.policiesDirectory) { sources = [folder] }
  }

  func changes() -> Changes {
    var found = Changes()
    for change in watch.changes() {
      if change.overflowed { found = Changes(accounts: true, sources: true) }
      if change.watch == accounts, ["passwd", "group", "nsswitch.conf"].contains(change.name) { found.accounts = true }
      if sources.contains(change.watch) { found.sources = true }
    }
    return found
  }

  /// Waits for a change, or for somebody who wakes.
  /// - Parameter watches: nil where the system can't tell of changes.
  static func wait(_ watches: Watches?, or wakeup: Wakeup, seconds: Double) {
    var entries = [wakeup.descriptor, watches?.watch.descriptor ?? -1].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    _ = poll(&entries, nfds_t(entries.count), Int32((min(seconds, 3600) * 1000).rounded(.up)))
  }
}
