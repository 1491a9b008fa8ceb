import Glibc
import LinuxFiles
import Synchronization
import Testing

@Suite struct AtomicReplacementTests {
  let folder = TemporaryFolder()

  @Test func replacesContentsAndMode() throws {
    let path = folder("file")
    try AtomicReplacement.write(Array("old".utf8), to: path, mode: 0o644)
    let before = try FileMetadata.of(path)
    try AtomicReplacement.write(Array("new".utf8), to: path, mode: 0o640)
    let after = try FileMetadata.of(path)
    #expect(try text(path) == "new")
    #expect(after.permissions == 0o640)
    #expect(after.inode != before.inode)
    #expect(!after.isSameVersion(as: before))
  }

  @Test func theModeDoesNotDependOnTheMask() async throws {
    // In a process of its own: the mask is also that of all other tests.
    await #expect(processExitsWith: .success) { [path = folder("file") as String] in
      umask(0o077)
      try AtomicReplacement.write([], to: path, mode: 0o644)
    }
    #expect(try FileMetadata.of(folder("file")).permissions == 0o644)
  }

  @Test func aFailureLeavesTheOldFileAndNoLitter() throws {
    let target = folder("directory")
    try Directory.create(target)
    try Directory.create(FilePath.join(target, "inside"))
    let error = #expect(throws: FileError.self) {
      try AtomicReplacement.write(Array("x".utf8), to: target, mode: 0o600)
    }
    #expect(error?.description == "cannot replace \(target): Is a directory")
    #expect(try Directory.names(in: folder.path) == ["directory"])
  }

  @Test func aLongNameOfManyBytesStillHasATemporaryName() throws {
    let path = folder(String(repeating: "é", count: 120))
    try AtomicReplacement.write(Array("x".utf8), to: path, mode: 0o600)
    #expect(try text(path) == "x")
  }

  @Test func readersSeeTheOldOrTheNewNeverAMixture() throws {
    let path = folder("file")
    let contents = (0..<8).map { [UInt8](repeating: UInt8(ascii: "a") + UInt8($0), count: 40_000) }
    try AtomicReplacement.write(contents[0], to: path, mode: 0o600, durable: false)
    let rounds = Rounds()
    try #require(
      BackgroundThread.start {
        for round in 0..<300 {
          _ = try? AtomicReplacement.write(contents[round % 8], to: path, mode: 0o600, durable: false)
          rounds.count.add(1, ordering: .releasing)
        }
      })
    while rounds.count.load(ordering: .acquiring) < 300 {
      let bytes = try WholeFile.read(path).bytes
      #expect(bytes.count == 40_000 && Set(bytes).count == 1)
    }
  }

  private final class Rounds: Sendable {
    let count = Atomic(0)
  }

  /// Of this file, old, ours: all three, or it stays.
  @Test func leftoversOfKilledWritersGo() throws {
    let folder = TemporaryFolder()
    let leftovers = [".a.plist.0z9.tmp", ".a.plist.3w5e11264sgsf.tmp"]
    let others = [
      ".a.plist.new.1.tmp", ".a.plist..tmp", ".a.plist.tmp", ".ab.plist.1.tmp", ".a.plist.1.tmp2", "a.plist.1.tmp",
      ".a.plist.ä.tmp", ".a.plist.young.tmp",
    ]
    for name in leftovers + others { try AtomicReplacement.write([1], to: folder(name), mode: 0o600) }
    var old = [timespec(tv_sec: time(nil) - 61, tv_nsec: 0), timespec(tv_sec: time(nil) - 61, tv_nsec: 0)]
    for name in leftovers + others.dropLast() { #expect(utimensat(AT_FDCWD, folder(name), &old, 0) == 0) }
    try Directory.create(folder(".a.plist.folder.tmp"))
    AtomicReplacement.removeLeftovers(of: "a.plist", in: try OpenDirectory(folder("")))
    #expect(try Set(Directory.names(in: folder(""))) == Set(others + [".a.plist.folder.tmp"]))
  }
}
