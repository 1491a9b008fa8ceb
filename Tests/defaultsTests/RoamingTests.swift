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
    let words = "defaults: the file was changed, and applications read it, but it does not roam yet: "
    #expect(write.errors.contains(words), "\(write.errors)")
    #expect(write.errors.contains(". It goes to the synced store as soon as that can be opened\n"), "\(write.errors)")
    #expect(sandbox.defaults("read", "org.example.Editor", "Theme").output == "light\n")
  }

  /// The store has an older value again once it can be read: what was written meanwhile comes first, and is handed over.
  @Test func whatWasWrittenWithoutTheStoreIsKept() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "dark").exitCode == 0)
    let folder = sandbox.home + "/.local/share/managed-preferences/ubiquity"
    try Directory.rename(folder, to: folder + ".aside")
    try AtomicReplacement.write([], to: folder, mode: 0o600)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "light").exitCode == 69)
    try Directory.removeFile(folder)
    try Directory.rename(folder + ".aside", to: folder)
    #expect(sandbox.defaults("read", "org.example.Editor", "Theme").output == "light\n")
    let layers = sandbox.defaults("read", "org.example.Editor", "Theme", "--layers").output
    #expect(layers.contains("●  application"), "\(layers)")
    let marks = sandbox.home + "/.config/managed-preferences/unsent/org.example.Editor.plist"
    #expect(try FileMetadata.of(marks).isRegularFile)
    let again = sandbox.defaults("write", "org.example.Editor", "Theme", "light")
    #expect(again.errors == "")
    #expect(throws: FileError.self) { try FileMetadata.of(marks) }
    let after = sandbox.defaults("read", "org.example.Editor", "Theme", "--layers").output
    #expect(after.contains("●  roaming"), "\(after)")
  }

  /// The later edit wins when a key roams again.
  @Test func whatWasWrittenBetweenTwoPoliciesIsKept() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "one").exitCode == 0)
    try sandbox.apply("forced: {org.example.Editor: {Font: Mono}}\n")
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "two").exitCode == 0)
    try sandbox.apply(Self.policy)
    #expect(sandbox.defaults("read", "org.example.Editor", "Theme").output == "two\n")
  }

  /// What is wrong with a store is said once, with its path once.
  @Test func troubleIsSaidOnce() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "dark").exitCode == 0)
    let folder = sandbox.home + "/.local/share/managed-preferences/ubiquity/org.example.Editor"
    for end in ["", "-wal", "-shm"] { try? Directory.removeFile(folder + "/store.sqlite" + end) }
    try Directory.createAll(folder + "/store.sqlite", mode: 0o700)
    let write = sandbox.defaults("write", "org.example.Editor", "Theme", "light")
    let words = "defaults: the file was changed, and applications read it, but it does not roam yet: "
    let path = "SANDBOX/home/.local/share/managed-preferences/ubiquity/org.example.Editor/store.sqlite"
    let lines = sandbox.plain(write.errors).split(separator: "\n")
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.first?.hasPrefix("\(words)\(path): nothing roams: ") == true, "\(lines)")
    #expect(lines.first?.split(separator: "store.sqlite").count == 2, "\(lines)")
    #expect(lines.last == "Next: defaults --root SANDBOX/root write org.example.Editor Theme light")
  }

  /// Which keys an application lets roam only it knows: what its store has under a key is shown, and said to who writes it.
  @Test func whatAnApplicationMayHaveDeclaredIsShown() throws {
    let sandbox = try Sandbox(policy: Self.policy)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "dark").exitCode == 0)
    try sandbox.apply("forced: {org.example.Editor: {Font: Mono}}\n")
    let write = sandbox.defaults("write", "org.example.Editor", "Theme", "light")
    let note =
      "of Theme: an application that lets this key roam by itself goes by the store; change it there\n"
    #expect(write.exitCode == 0)
    #expect(write.errors == "defaults: note: the synced store has another value " + note)
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "dark").errors == "")
    #expect(sandbox.defaults("write", "org.example.Editor", "Other", "1").errors == "")
    #expect(sandbox.defaults("write", "org.example.Editor", "Theme", "light").exitCode == 0)
    let layers = sandbox.defaults("read", "org.example.Editor", "Theme", "--layers").output
    let rows = layers.split(separator: "\n").map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
    #expect(rows.first == "Theme = \"light\"")
    #expect(rows.contains("? roaming \"dark\"") && rows.contains("● application \"light\""), "\(layers)")
    #expect(
      layers.hasSuffix("\n  ?  comes first where the application lets this key roam by itself, which only it knows\n"))
    let json = sandbox.defaults("read", "org.example.Editor", "Theme", "--layers", "--format", "json").output
    #expect(json.contains("\"undeclared\": {"), "\(json)")
    let other = sandbox.defaults("read", "org.example.Editor", "Other", "--layers").output
    #expect(!other.contains("?"), "\(other)")
    // Removed there, it would not stay here either.
    try sandbox.apply(Self.policy)
    #expect(sandbox.defaults("delete", "org.example.Editor", "Theme").exitCode == 0)
    try sandbox.apply("forced: {org.example.Editor: {Font: Mono}}\n")
    let back = sandbox.defaults("write", "org.example.Editor", "Theme", "light")
    #expect(
      back.errors
        == "defaults: note: the synced store does not have Theme any more: an application that lets this key roam by itself goes by the store; change it there\n"
    )
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
