import Glibc
import LinuxFiles
import Testing

@Suite struct FileLockTests {
  let folder = TemporaryFolder()

  @Test func bindsTwoDescriptorsOfOneProcess() throws {
    let held = try FileLock.exclusive(folder("lock"))
    let error = #expect(throws: FileError.self) { _ = try FileLock.exclusive(folder("lock"), timeout: 0.02) }
    #expect(error?.errno == .timedOut)
    _ = consume held
    _ = try FileLock.exclusive(folder("lock"), timeout: 0.02)
  }

  /// As it would with the record locks of POSIX: any close of the file in the process would let go of the lock.
  @Test func closingAnotherDescriptorLetsNothingGo() throws {
    let held = try FileLock.exclusive(folder("lock"))
    do { _ = try FileDescriptor.open(folder("lock"), [.readWrite]) }
    let error = #expect(throws: FileError.self) { _ = try FileLock.exclusive(folder("lock"), timeout: 0.02) }
    #expect(error?.errno == .timedOut)
    _ = consume held
  }

  @Test func bindsProcessesAndFallsWithItsHolder() throws {
    let path = folder("lock")
    let child = forkProcess()
    if child == 0 {
      guard let lock = try? FileLock.exclusive(path) else { _exit(1) }
      _ = try? AtomicReplacement.write([], to: folder("held"), mode: 0o600)
      while getppid() != 0 { pause() }
      _ = consume lock
    }
    while (try? FileMetadata.of(folder("held"))) == nil { usleep(1000) }
    #expect(throws: FileError.self) { _ = try FileLock.exclusive(path, timeout: 0.02) }
    kill(child, SIGKILL)
    var status: Int32 = 0
    waitpid(child, &status, 0)
    _ = try FileLock.exclusive(path, timeout: 5)
  }

  @Test func aSymbolicLinkIsNoLockFile() throws {
    symlink("/etc/passwd", folder("lock"))
    let error = #expect(throws: FileError.self) { _ = try FileLock.exclusive(folder("lock")) }
    #expect(error?.errno == .tooManySymbolicLinks)
  }
}
