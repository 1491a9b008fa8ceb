import Glibc
import LinuxFiles

/// The inotify side of the watcher: which directories are watched, and whether what happened there concerns us.
///
/// For a directory that is not there yet, the nearest one above it is watched.
struct WatchedDirectories: ~Copyable {
  private var watch: FileWatch?
  private var numbers: [String: Int32] = [:]
  /// What has to appear before the directories that are missing can be watched.
  private var awaited: Set<String> = []
  private var descriptors: [pollfd] = []
  private var happened = 0
  /// False where the kernel gives no instance or no more watches.
  private(set) var isAvailable = true
  /// What happened before some directory was watched is not told: look once more.
  private(set) var isNew = false
  /// Whether the last wait ended since something of ours happened in a directory.
  private(set) var told = false

  mutating func follow(_ directories: Set<String>) {
    isNew = false
    if watch == nil {
      do throws(Errno) {
        watch = try FileWatch()
        isAvailable = true
      } catch {
        isAvailable = false
        return
      }
    }
    var wanted: Set<String> = []
    awaited = []
    for directory in directories { wanted.insert(add(directory)) }
    for (directory, number) in numbers where !wanted.contains(directory) {
      watch?.remove(number)
      numbers[directory] = nil
    }
  }

  /// - Returns: the directory that is watched, `directory` itself where it is there.
  private mutating func add(_ directory: String) -> String {
    if numbers[directory] != nil { return directory }
    do throws(FileError) {
      if let number = try watch?.add(directory: directory) {
        numbers[directory] = number
        isNew = true
      }
    } catch {
      if error.errno == .noSpace { isAvailable = false }
      let parent = FilePath.parent(of: directory)
      if error.errno == .noSuchFile, parent != directory {
        awaited.insert(FilePath.name(of: directory))
        return add(parent)
      }
    }
    return directory
  }

  mutating func stop() {
    watch = nil
    numbers = [:]
    isAvailable = true
  }

  /// Waits until something happens or the time is over.
  mutating func wait(_ wake: Int32, timeout: Int32) {
    descriptors = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
    if let descriptor = watch?.descriptor {
      descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }
    happened = Int(poll(&descriptors, nfds_t(descriptors.count), timeout))
  }

  /// Whether something of ours happened while we waited: one of `names` changed, or the thread was woken.
  mutating func concerns(_ names: Set<String>, wake: Int32) -> Bool {
    told = false
    if happened <= 0 { return false }
    var isWoken = false
    if descriptors[0].revents != 0 {
      var bytes = [UInt8](repeating: 0, count: 256)
      while read(wake, &bytes, bytes.count) > 0 {}
      isWoken = true
    }
    if descriptors.count > 1, descriptors[1].revents != 0, let changes = watch?.changes() {
      for change in changes {
        told = told || names.contains(change.name) || awaited.contains(change.name)
        if change.overflowed || change.name.isEmpty {
          // A watched directory itself went, or events were lost: begin again.
          numbers = [:]
          watch = nil
          told = true
        }
      }
    }
    return isWoken || told
  }
}
