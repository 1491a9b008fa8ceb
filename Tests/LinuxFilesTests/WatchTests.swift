import Glibc
import LinuxFiles
import Testing

@Suite struct WatchTests {
  let folder = TemporaryFolder()

  /// A user has 128 instances as a rule, which the processes of another test may have taken for a while.
  private func watch() throws -> FileWatch {
    for _ in 0..<24_000 {
      do throws(Errno) { return try FileWatch() } catch {
        if error.rawValue != EMFILE { throw error }
      }
      usleep(5000)
    }
    return try FileWatch()
  }

  @Test func aReplacementIsNoticedUnderItsName() throws {
    let watch = try watch()
    let number = try watch.add(directory: folder.path)
    #expect(watch.changes().isEmpty)
    try AtomicReplacement.write([1], to: folder("generation"), mode: 0o600)
    let changes = watch.changes()
    #expect(changes.contains { $0.watch == number && $0.name == "generation" && !$0.overflowed })
    watch.remove(number)
  }

  @Test func whatIsNoDirectoryCannotBeWatched() throws {
    let watch = try watch()
    #expect(throws: FileError.self) { try watch.add(directory: folder("nothing")) }
    #expect(throws: FileError.self) { try watch.add(directory: "/etc/passwd") }
  }
}

@Suite struct IdentityTests {
  @Test func theKernelAndTheUserDatabaseAgree() throws {
    let account = try #require(try UserDatabase.user(id: 0))
    #expect(account.name == "root" && account.homeDirectory == "/root")
    #expect(try UserDatabase.user(named: "root") == account)
    #expect(try UserDatabase.groupID(named: "root") == 0)
    #expect(UserDatabase.groupIDs(of: account).contains(0))
    #expect(ProcessIdentity.groupIDs().contains(ProcessIdentity.realGroupID))
  }

  @Test func aNameThatIsNotThereIsNilAndNoError() throws {
    #expect(try UserDatabase.user(named: "no-such-user-here") == nil)
    #expect(try UserDatabase.user(id: 3_999_999_999) == nil)
    #expect(try UserDatabase.groupID(named: "no-such-group-here") == nil)
  }

  @Test func theExecutableIsARealFile() throws {
    let path = try #require(ProcessIdentity.executablePath())
    #expect(try FileMetadata.of(path).isRegularFile)
  }
}
