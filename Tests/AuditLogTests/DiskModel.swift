import LinuxFiles

@testable import AuditLog

/// What a disk may hold after a power cut, for every moment of a piece of work on a log.
///
/// Of a file that was not waited for since it changed, a power cut leaves the old contents, the new ones, the new ones in
/// part, or their length with zeros; of a name that its folder was not waited for, the old state or the new one. Files are
/// lost and kept independently of each other, more freely than any file system does it.
final class DiskModel: @unchecked Sendable {
  typealias Files = [String: [UInt8]]

  /// A moment: the files as every process sees them, what is sure to be on the disk, and what was acknowledged by then.
  struct Moment {
    let seen: Files
    let sure: Files
    let acknowledged: UInt64
  }

  private let folders: [String]
  private(set) var moments: [Moment] = []
  var acknowledged: UInt64 = 0

  /// The contents of files that were waited for, whether or not their names were.
  private var contents: Files
  private var names: Set<String>
  /// Taken by the disk, durable with the next wait.
  private var taken: [String] = []
  private var last: LogOperation?

  init(_ folders: [String]) throws {
    self.folders = folders
    contents = try Self.files(in: folders)
    names = Set(contents.keys)
  }

  /// Operations that tell this model of each change.
  var operations: LogOperations {
    LogOperations { [self] (operation) throws(Errno) in observe(operation) }
  }

  /// The moment after the last change.
  func end() { observe(nil) }

  private func observe(_ next: LogOperation?) {
    guard let seen = try? Self.files(in: folders) else { return }
    if let last { apply(last, seen) }
    last = next
    let sure = contents.filter { names.contains($0.key) }
    moments.append(Moment(seen: seen, sure: sure, acknowledged: acknowledged))
  }

  private func apply(_ operation: LogOperation, _ seen: Files) {
    switch operation.change {
    case .writeBack: taken.append(operation.path)
    case .synchronize:
      for path in [operation.path, operation.other].compactMap({ $0 }) + taken {
        if folders.contains(path) {
          names = names.filter { !$0.hasPrefix(path + "/") || seen[$0] != nil }
          for name in seen.keys where name.hasPrefix(path + "/") {
            names.insert(name)
            if contents[name] == nil { contents[name] = [] }
          }
        } else {
          contents[path] = seen[path]
        }
      }
      taken = []
    case .rename where operation.other == nil:
      contents[operation.path] = seen[operation.path]
      names.insert(operation.path)
    case .rename: contents[operation.path] = contents[operation.other ?? ""]
    case .makeDirectory, .create, .write, .truncate, .remove, .reserve: break
    }
  }

  /// Every disk that a power cut at a moment may leave.
  static func disks(after moment: Moment) -> [Files] {
    var disks: [Files] = [[:]]
    for path in Set(moment.seen.keys).union(moment.sure.keys).sorted() {
      let choices = outcomes(moment.sure[path], moment.seen[path])
      disks = disks.flatMap { disk in
        choices.map { choice in
          var disk = disk
          disk[path] = choice
          return disk
        }
      }
    }
    return disks
  }

  private static func outcomes(_ old: [UInt8]?, _ new: [UInt8]?) -> [[UInt8]?] {
    if old == new { return [new] }
    guard let new, new.count > (old?.count ?? 0) else { return [old, new] }
    let start = old?.count ?? 0
    let half = Array(new[..<(start + (new.count - start) / 2)])
    let zeros = new[..<start] + [UInt8](repeating: 0, count: new.count - start)
    return [old, new, half, Array(zeros)]
  }

  private static func files(in folders: [String]) throws -> Files {
    var files: Files = [:]
    for folder in folders {
      for name in try Directory.names(in: folder) where name != "lock" {
        files[folder + "/" + name] = try WholeFile.read(folder + "/" + name).bytes
      }
    }
    return files
  }
}
