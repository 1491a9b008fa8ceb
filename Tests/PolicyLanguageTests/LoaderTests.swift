import Glibc
import LinuxFiles
import PolicyLanguage
import Testing

/// Which files a tree has, and that nothing but their contents decides.
@Suite struct LoaderTests {
  static let profile = "version: 1\nkind: Profile\nid: org.example.p\ntitle: P\nforced: {a.b: {k: 1}}\n"

  private func write(_ text: String, _ path: String) throws {
    try Directory.createAll(FilePath.parent(of: path))
    try AtomicReplacement.write(Array(text.utf8), to: path, mode: 0o644, durable: false)
  }

  @Test func findsWhatAShellWouldFind() throws {
    try TemporaryFolder.with { folder in
      for name in [
        "b.yaml", "a.yml", "C.YAML", "sub/deep/d.yaml", ".hidden.yaml", ".git/e.yaml", "f.yaml.sample", "g.txt",
      ] {
        try write("", FilePath.join(folder, name))
      }
      try Directory.create(FilePath.join(folder, "folder.yaml"))
      try write("", FilePath.join(folder, "folder.yaml/h.yaml"))
      symlink("..", FilePath.join(folder, "sub/up"))
      symlink("b.yaml", FilePath.join(folder, "linked.yaml"))
      let tree = try PolicyTreeLoader.load(directory: folder, displayedAs: "policies")
      #expect(
        tree.sources.map(\.relativePath)
          == ["C.YAML", "a.yml", "b.yaml", "folder.yaml/h.yaml", "linked.yaml", "sub/deep/d.yaml"])
      #expect(tree.sources[1].path == "policies/a.yml")
    }
  }

  @Test func aMissingFolderIsAnErrorOfTheCall() {
    #expect(throws: FileError("inspect", path: "/nonexistent/policies", errno: .noSuchFile)) {
      try PolicyTreeLoader.load(directory: "/nonexistent/policies")
    }
  }

  /// A pipe would never end, a dangling link is no file: both are mistakes of the tree, and the rest is read.
  @Test func filesThatCanNotBeRead() throws {
    try TemporaryFolder.with { folder in
      mkfifo(FilePath.join(folder, "a.yaml"), 0o600)
      symlink("nowhere", FilePath.join(folder, "b.yaml"))
      try write(Self.profile, FilePath.join(folder, "c.yaml"))
      let tree = try PolicyTreeLoader.load(directory: folder, displayedAs: "p")
      #expect(
        tree.diagnostics.map { "\($0.path):\($0.line):\($0.column): \($0.message) [\($0.code)]" } == [
          "p/a.yaml:1:1: the file can't be read: it is a pipe, not a file [unreadable-file]",
          "p/b.yaml:1:1: the file can't be read: No such file or directory [unreadable-file]",
        ])
      #expect(tree.profiles.count == 1)
    }
  }

  /// The order in which sources are given, and the threads that read them, decide nothing.
  @Test func theOrderOfSourcesDecidesNothing() {
    let sources: [(path: String, bytes: [UInt8])] = (0..<40).map { number in
      let text = Self.profile.replacing("org.example.p", with: "org.example.p\(number % 30)")
      return ("p\(number).yaml", Array(text.utf8) + Array("release: {a.b: [x, x]}\n".utf8))
    }
    let first = PolicyTreeLoader.load(sources: sources, now: 0)
    let second = PolicyTreeLoader.load(sources: sources.reversed(), now: 0)
    #expect(first.diagnostics == second.diagnostics)
    #expect(first.diagnostics.count == 50)
    #expect(first.profiles.map(\.id.value) == second.profiles.map(\.id.value))
  }

  /// Names of files go into reports and payloads as text: two spellings of one name would be one file there.
  @Test func namesOfFilesThatAreOneText() {
    let sources = ["caf\u{e9}.yaml", "cafe\u{301}.yaml", "cafe.yaml"].enumerated().map { number, path in
      (path: path, bytes: Array(Self.profile.replacing("org.example.p", with: "org.example.p\(number)").utf8))
    }
    #expect(
      PolicyTreeLoader.load(sources: sources, now: 0).diagnostics.map {
        "\($0.path.utf8.count) \($0.message) [\($0.code)]"
      }
        == ["10 the file 'caf\\u{E9}.yaml' is also written 'cafe\\u{301}.yaml' [lookalike-name]"])
  }
}
