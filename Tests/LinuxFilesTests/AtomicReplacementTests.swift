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

  @Test func theModeDoesNotDependOnTheMask() throws {
    let mask = umask(0o077)
    defer { umask(mask) }
    try AtomicReplacement.write([], to: folder("file"), mode: 0o644)
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
}
