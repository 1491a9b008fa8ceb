internal import CTestPrograms
internal import LinuxFiles
internal import Synchronization

/// Folders that tests work in.
public enum TestFolders {
  private static let atLast: Mutex<[String]> = {
    test_program_at_last { TestFolders.atLast.withLock { for path in $0 { try? Directory.removeTree(path) } } }
    return Mutex([])
  }()

  /// Removes a folder whose owner goes. A background writer that is still at work may make a part of it again, so what there is
  /// of it then goes at the end of the run.
  public static func remove(_ path: String) {
    try? Directory.removeTree(path)
    removeAtLast(path)
  }

  /// Removes a folder or a file at the end of the run, after what the product itself does at a process's end.
  public static func removeAtLast(_ path: String) { atLast.withLock { $0.append(path) } }
}
