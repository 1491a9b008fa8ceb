import AuditEvents
import LinuxFiles
import PropertyList

/// One preference file, shared by all search lists of the process that use it.
///
/// `contents`, `version`, `isShared`, `isBusy`, `faults`, `users`, `sink`, `unsent`, `marked`, `roamed` and `newlyRoamed` are
/// guarded by the engine's lock; `disk` serializes reading and writing of the file within the process and is taken first where
/// both are.
final class DomainFile: @unchecked Sendable {
  /// The domain's.
  let name: String
  let file: PreferenceFile
  let path: String
  let disk = EngineLock()

  var contents = DomainContents()
  /// Of the file that `contents.stored` was read from or written to; nil while there is none.
  var version: FileMetadata?
  var isLoaded = false
  /// Whether other machines may change the file, and this one sees it late; nil until it is looked at a second time.
  var isShared: Bool?
  /// Whether this process has removed what killed writers left beside the file. Guarded by `disk`.
  private var isCleared = false
  /// When it was written last, of the monotonic clock.
  var lastWriting = -Double.infinity
  /// Whether the last writing met another process's lock, or a thread of ours that waits for it.
  var isBusy = false
  /// What is wrong now, by kind; the first of each kind was told to the sink.
  var faults: [PreferencesFault.Kind: PreferencesFault] = [:]
  var users: [ObjectIdentifier: ListState] = [:]
  var sink: any AuditEventSink
  /// Edits that the synced store has not got, to be marked with the next write: when each was made, in milliseconds since
  /// 1970.
  var unsent: [String: Int64] = [:]
  /// Those that are marked on the disk, as last known (`UnsentEdit`).
  var marked: [String: Int64] = [:]
  /// The keys that have roamed on this machine; known once the file was read.
  var roamed: Set<String> = []
  /// Those that do for the first time, to be noted with the next write.
  var newlyRoamed: Set<String> = []

  init(name: String, file: PreferenceFile, sink: any AuditEventSink) {
    self.name = name
    self.file = file
    self.sink = sink
    path = file.path
  }

  var directory: String { file.directory }

  /// What is known of the file, and what is wrong with that. Under the engine's lock.
  var known: PreferenceFile.Reading {
    let fault = [.damaged, .unreadable, .untrusted].lazy.compactMap { self.faults[$0] }.first
    return PreferenceFile.Reading(values: contents.stored, version: version, fault: fault)
  }

  /// Brings `changes` to the disk, merged key by key into what other processes wrote.
  /// - Parameters:
  ///   - known: what was read whole last, with what is wrong since. It stands for a file that was damaged meanwhile, which
  ///     is moved aside.
  ///   - marks: edits that are to be marked as unsent before the file has them.
  ///   - roamed: keys that roam for the first time.
  ///   - lockTimeout: seconds to wait for another process.
  func write(
    _ changes: DomainChanges, known: PreferenceFile.Reading, marking marks: [String: Int64], roamed: Set<String>,
    lockTimeout: Double
  ) throws(PreferencesFault) -> LockedPreferenceFile.Writing {
    let locked = try LockedPreferenceFile(file, knowing: known, timeout: lockTimeout)
    if !marks.isEmpty || !roamed.isEmpty {
      var edits: [String: UnsentEdit] = [:]
      for (key, time) in marks {
        // A write that only marks comes after the one that brought the value.
        let before = changes.values.keys.contains(key) ? locked.values[key].map { [$0] } ?? [] : nil
        edits[key] = UnsentEdit(time: time, before: before)
      }
      try locked.markUnsent(edits, roamed: roamed)
    }
    let merged = changes.applied(to: locked.isDamaged ? known.values : locked.values)
    defer { isCleared = true }
    return try locked.replace(by: merged, leavingOut: changes.values.keys, clearingLeftovers: !isCleared)
  }
}
