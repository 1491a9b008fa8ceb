import Glibc
import LinuxFiles
import Testing

@Suite struct ReadingTests {
  let folder = TemporaryFolder()

  @Test(arguments: [0, 1, 511, 512, 513, 4096, 100_000]) func readsWhole(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    try AtomicReplacement.write(bytes, to: folder("f"), mode: 0o600)
    #expect(try WholeFile.read(folder("f")).bytes == bytes)
  }

  @Test func readsFilesThatCallThemselvesEmpty() throws {
    #expect(try !WholeFile.read("/proc/self/status").bytes.isEmpty)
  }

  @Test func refusesWhatIsNoRegularFile() throws {
    mkfifo(folder("pipe"), 0o600)
    symlink("target", folder("link"))
    try AtomicReplacement.write([1], to: folder("target"), mode: 0o600)
    func errno(_ name: String, follow: Bool = true, limit: Int = 100) -> Errno? {
      do throws(FileError) {
        _ = try WholeFile.read(folder(name), limit: limit, followingLinks: follow)
        return nil
      } catch {
        return error.errno
      }
    }
    #expect(errno("pipe") == .invalidArgument)
    #expect(errno("") == .isDirectory)
    #expect(errno("nothing") == .noSuchFile)
    #expect(errno("link", follow: false) == .tooManySymbolicLinks)
    #expect(errno("link") == nil)
    #expect(errno("target", limit: 0) == .fileTooLarge)
  }

  @Test func namesAreSortedByBytes() throws {
    for name in ["b", "a", "B", "ä", "10", "9"] {
      try AtomicReplacement.write([], to: folder(name), mode: 0o600)
    }
    #expect(try Directory.names(in: folder.path) == ["10", "9", "B", "a", "b", "ä"])
  }

  @Test func createAllSaysWhatItMade() throws {
    #expect(try Directory.createAll(folder("a/b/c")) == [folder("a"), folder("a/b"), folder("a/b/c")])
    #expect(try Directory.createAll(folder("a/b/c")) == [])
  }

  @Test func removingATreeFollowsNoLink() throws {
    try Directory.createAll(folder("outside"))
    try AtomicReplacement.write([], to: folder("outside/kept"), mode: 0o600)
    try Directory.createAll(folder("tree/inner"))
    symlink(folder("outside"), folder("tree/inner/link"))
    try Directory.removeTree(folder("tree"))
    #expect(try Directory.names(in: folder.path) == ["outside"])
    #expect(try Directory.names(in: folder("outside")) == ["kept"])
  }

  @Test(arguments: [("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/c", "a/b", "c")])
  func pathsFallApart(path: String, parent: String, name: String) {
    #expect(FilePath.parent(of: path) == parent)
    #expect(FilePath.name(of: path) == name)
  }
}
