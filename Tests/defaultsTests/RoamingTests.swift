import CommandSandbox
import LinuxFiles
import Testing

/// Keys that a policy lets roam: the commands read and write the synced store that applications ask.
@Suite struct RoamingTests {
  private static let policy = """
    roaming: {org.example.Editor: [Theme, Font]}
    forced: {org.example.Editor: {Font: Mono}}

    """

  @Test func whatIsWrittenIsWhatApplicationsRead() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    let written = sandbox.defaults("write", "org.example.Editor", "Theme", "dark")
    #expect(written.exitCode == 0)
    #expect(written.errors == "")
    #expect(sandbox.defaults("read", "org.example.Editor", "Theme").output == "dark\n")
    let layers = sandbox.defaults("read", "org.example.Editor", "Theme", "--layers").output
    #expect(layers.contains("●  roaming"), "\(layers)")
    // Another program changes the file alone: the store's value is still what applications read.
    #expect(sandbox.defaults("write", "org.example.Editor", "Other", "1").exitCode == 0)
    let file = sandbox.home + "/.config/org.example.Editor.plist"
    #expect(sandbox.defaults("write", file, "Theme", "light").exitCode == 0)
    #expect(sandbox.defaults("read", "org.example.Editor", "Theme").output == "dark\n")
    #expect(sandbox.defaults("read", "org.example.Editor", "Other").output == "1\n")
    #expect(sandbox.defaults("delete", "org.example.Editor", "Theme").exitCode == 0)
    let gone = sandbox.defaults("read", "org.example.Editor", "Theme")
    #expect(gone.exitCode == 1)
  }

  @Test func aForcedKeyThatRoamsIsRefusedAsEver() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.example.Editor", "Font", "Serif").exitCode == 77)
    #expect(sandbox.defaults("read", "org.example.Editor", "Font").output == "Mono\n")
  }

  @Test func askingMakesNoStore() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    _ = sandbox.defaults("read", "org.example.Editor")
    #expect(throws: FileError.self) {
      try FileMetadata.of(sandbox.home + "/.local/share/managed-preferences/ubiquity")
    }
  }

  @Test func aStoreThatCannotBeReadIsSaidAndTheFileAnswers() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "dark").exitCode == 0)
    let path = sandbox.home + "/.local/share/managed-preferences/ubiquity/org.example.Editor/store.sqlite"
    for end in ["", "-wal", "-shm"] { try? Directory.removeFile(path + end) }
    try Directory.createAll(path, mode: 0o700)
    let read = sandbox.defaults("read", "org.example.Editor", "Theme")
    #expect(read.output == "dark\n")
    let write = sandbox.defaults("write", "org.example.Editor", "Theme", "light")
    #expect(write.exitCode == 69)
    let words = "defaults: the file was changed, and applications read it, but it does not roam: nothing roams: "
    #expect(write.errors.contains(words), "\(write.errors)")
    #expect(sandbox.defaults("read", "org.example.Editor", "Theme").output == "light\n")
  }

  /// What the store does not take leaves its older value before the file's.
  @Test func anOlderValueInTheStoreIsSaid() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "dark").exitCode == 0)
    // More than a store takes; in the file's form each text is kept once.
    let parts = (0..<10).map { String(repeating: "\($0)", count: 120_000) }
    let write = sandbox.defaults(["write", "org.example.Editor", "Theme", "-array"] + parts)
    #expect(write.exitCode == 69)
    let words = "defaults: the file was changed, but applications go on reading what the synced store has of Theme: "
    #expect(write.errors.contains(words), "\(write.errors.prefix(300))")
    #expect(sandbox.defaults("read", "org.example.Editor", "Theme").output == "dark\n")
  }
}
