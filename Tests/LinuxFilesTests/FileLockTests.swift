import Glibc
import LinuxFiles
import TestPrograms
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
    let holder = try StartedProgram(
      ["flock", "-o", path, "sh", "-c", "echo held; exec cat"], input: .typed, output: .read)
    try #require(holder.line() == "held")
    #expect(throws: FileError.self) { _ = try FileLock.exclusive(path, timeout: 0.02) }
    holder.signal(SIGKILL)
    holder.wait()
    _ = try FileLock.exclusive(path, timeout: 5)
  }

  @Test func aSymbolicLinkIsNoLockFile() throws {
    symlink("/etc/passwd", folder("lock"))
    let error = #expect(throws: FileError.self) { _ = try FileLock.exclusive(folder("lock")) }
    #expect(error?.errno == .tooManySymbolicLinks)
  }
}
