import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import ForcedDomain

@Suite("Loading an installation")
struct LoaderTests {
  @Test func noMarkerIsNotInstalled() throws {
    let temporary = try TemporaryInstallation()
    guard case .notInstalled = temporary.load() else { throw DomainFault(path: "", message: "installed") }
    // What others have left in our folders is no trace of an installation.
    try temporary.write([1], to: temporary.installation.generationDirectory(3) + "/notes")
    try temporary.write([1], to: temporary.installation.generationsDirectory + "/other/forced")
    guard case .notInstalled = temporary.load() else { throw DomainFault(path: "", message: "installed") }
    let nowhere = ForcedDomainLoader(Installation(root: temporary.installation.root + "/nowhere"))
    guard case .notInstalled = nowhere.load() else { throw DomainFault(path: "", message: "installed") }
  }

  @Test func installed() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 3)
    #expect(faults == [])
    let (again, _) = try loaded(temporary.load(keeping: domain))
    #expect(again === domain)
    try temporary.install(generation: 4, serial: 2)
    let (next, nextFaults) = try loaded(temporary.load(keeping: domain))
    #expect(next.generation == 4)
    #expect(nextFaults == [])
  }

  @Test func markerThatIsNoFile() throws {
    let temporary = try TemporaryInstallation()
    #expect(symlink("/nonexistent", temporary.installation.generationMarker) == 0)
    guard case .unavailable(let faults) = temporary.load() else {
      throw DomainFault(path: "", message: "a dangling link counts as not installed")
    }
    #expect(
      temporary.text(faults) == ["generation: is a symbolic link, or no directory", "forced: is not there"])
  }

  @Test func damagedMarkerIsAFaultOnly() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    try temporary.write(Array("generation 4".utf8), to: temporary.installation.generationMarker)
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 3)
    #expect(temporary.text(faults) == ["generation: is damaged"])
  }

  static let damages: [(id: String, bytes: [UInt8], message: String)] = [
    ("0 bytes", [], "forced: no forced domain: 0 bytes are shorter than a header"),
    ("7 bytes", [1, 2, 3, 4, 5, 6, 7], "forced: no forced domain: 7 bytes are shorter than a header"),
    ("zeros", [UInt8](repeating: 0, count: 512), "forced: no forced domain: the first bytes are not its mark"),
  ]

  @Test(arguments: damages.indices)
  func damagedFile(_ index: Int) throws {
    let damage = Self.damages[index]
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 2, mark: 2)
    try temporary.install(generation: 3, mark: 3)
    try temporary.write(damage.bytes, to: temporary.installation.forcedFile)
    // A fresh process: the newest sound generation.
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 3)
    #expect(temporary.text(faults) == [damage.message])
    // A running one keeps what it has, even where an older generation is sound.
    let (kept, keptFaults) = try loaded(temporary.load(keeping: domain))
    #expect(kept === domain)
    #expect(temporary.text(keptFaults) == [damage.message])
    // The newest one kept is damaged too.
    try temporary.write([9], to: temporary.installation.generationDirectory(3) + "/forced")
    let (older, olderFaults) = try loaded(temporary.load())
    #expect(older.generation == 2)
    #expect(
      temporary.text(olderFaults) == [
        damage.message, "generations/3/forced: no forced domain: 1 bytes are shorter than a header",
      ])
    try Directory.removeTree(temporary.installation.generationsDirectory)
    guard case .unavailable(let last) = temporary.load() else { throw DomainFault(path: "", message: "available") }
    #expect(temporary.text(last) == [damage.message])
  }

  /// `cp small.store forced`: the file is cut while a process uses it.
  @Test func cutInPlaceWhileInUse() throws {
    let temporary = try TemporaryInstallation()
    try temporary.write(try Sample.forced(), to: temporary.installation.forcedFile)
    let whole = try Sample.forced()
    let marker = GenerationMarker(
      generation: 7, serial: 42, sourceDigest: [], hostName: "lab-a-03", installedAt: 5,
      forcedChecksum: try ForcedDomain(bytes: whole, expecting: [.forced]).checksum)
    try temporary.write(marker.bytes, to: temporary.installation.generationMarker)
    let (domain, _) = try loaded(temporary.load())
    let before = exercise(domain)
    #expect(truncate(temporary.installation.forcedFile, 800) == 0)
    #expect(exercise(domain) == before)
    let (kept, faults) = try loaded(temporary.load(keeping: domain))
    #expect(kept === domain)
    #expect(
      temporary.text(faults) == [
        "forced: the forced domain is damaged: its header states \(whole.count) bytes, the file has 800"
      ])
    #expect(truncate(temporary.installation.forcedFile, 0) == 0)
    guard case .unavailable(let last) = temporary.load() else { throw DomainFault(path: "", message: "available") }
    #expect(temporary.text(last) == ["forced: no forced domain: 0 bytes are shorter than a header"])
  }

  @Test func copiedGenerationFolder() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    try Directory.removeFile(temporary.installation.forcedFile)
    try temporary.write(
      try TemporaryInstallation.file(generation: 1), to: temporary.installation.generationDirectory(9) + "/forced")
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 3)
    // 9 is above the marker: it never came into use, and is not asked.
    #expect(temporary.text(faults) == ["forced: is not there"])
    try temporary.write(
      try TemporaryInstallation.file(generation: 3, mark: 77),
      to: temporary.installation.generationDirectory(3) + "/forced")
    guard case .unavailable(let all) = temporary.load() else { throw DomainFault(path: "", message: "available") }
    #expect(
      temporary.text(all) == [
        "forced: is not there", "generations/3/forced: its contents are not those that were installed",
      ])
  }

  @Test func provenanceBelongsToItsGeneration() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    let (forced, _) = try loaded(temporary.load())
    let loader = ForcedDomainLoader(temporary.installation)
    func fault() -> String? {
      guard case .unavailable(let fault) = loader.loadProvenance(for: forced) else { return nil }
      return temporary.text([fault])[0]
    }
    func write(_ kind: FileKind, generation: UInt64) throws {
      try temporary.write(
        try ForcedDomainWriter(kind: kind).finish(FileStamp(generation: generation)),
        to: temporary.installation.provenanceFile, mode: 0o640)
    }
    #expect(fault() == "provenance: is not there")
    try write(.provenance, generation: 2)
    #expect(fault() == "provenance: holds generation 2, not generation 3")
    try write(.forced, generation: 3)
    #expect(fault() == "provenance: a file of the kind 'forced' can't stand here")
    try write(.provenance, generation: 3)
    guard case .available(let provenance) = loader.loadProvenance(for: forced) else {
      throw DomainFault(path: "", message: "not available")
    }
    #expect(provenance.kind == .provenance)
  }

  @Test(arguments: [0o664, 0o646, 0o666] as [UInt32])
  func writableFile(_ mode: UInt32) throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    chmod(temporary.installation.forcedFile, mode)
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 3)
    #expect(temporary.text(faults) == ["forced: the file can be written by others than root"])
  }

  @Test func writableDirectory() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    let (domain, _) = try loaded(temporary.load())
    chmod(temporary.installation.stateDirectory, 0o775)
    let (kept, faults) = try loaded(temporary.load(keeping: domain))
    #expect(kept === domain)
    #expect(
      Set(faults.map(\.message)) == ["the directory can be written by others than root"])
    chmod(temporary.installation.stateDirectory, 0o755)
  }

  @Test func linkInTheFilesPlace() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    let real = temporary.installation.stateDirectory + "/real"
    #expect(rename(temporary.installation.forcedFile, real) == 0)
    #expect(symlink(real, temporary.installation.forcedFile) == 0)
    let (_, faults) = try loaded(temporary.load())
    #expect(temporary.text(faults) == ["forced: is a symbolic link, or no directory"])
  }

  @Test func pipeInTheFilesPlace() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    try Directory.removeFile(temporary.installation.forcedFile)
    #expect(mkfifo(temporary.installation.forcedFile, 0o644) == 0)
    let (_, faults) = try loaded(temporary.load())
    #expect(temporary.text(faults) == ["forced: is a pipe, not a file"])
  }

  @Test(.enabled(if: geteuid() == 0, "files can be given away by root only"))
  func strangersFile() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    #expect(chown(temporary.installation.forcedFile, 1001, 0) == 0)
    let (_, faults) = try loaded(temporary.load())
    #expect(temporary.text(faults) == ["forced: the file belongs to user 1001, not to root"])
    #expect(chown(temporary.installation.forcedFile, 0, 0) == 0)
    #expect(chown(temporary.installation.stateDirectory, 1001, 0) == 0)
    guard case .loaded = temporary.load() else {
      // The generations lie in directories of root's.
      throw DomainFault(path: "", message: "not loaded")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "another user can be played by root only"))
  func unprivilegedReader() async throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    try temporary.write([1], to: temporary.installation.provenanceFile, mode: 0o640)
    // Below a root the effective user counts as root, so its own files are trusted and a stranger's are not.
    #expect(temporary.installation.isTrustedOwner(0))
    #expect(!temporary.installation.isTrustedOwner(1001))
    #expect(!Installation(root: "").isTrustedOwner(1001))
    await #expect(processExitsWith: .success) { [root = temporary.installation.root as String] in
      try #require(setgroups(0, nil) == 0 && setgid(1001) == 0 && setuid(1001) == 0)
      let installation = Installation(root: root)
      let (forced, faults) = try loaded(ForcedDomainLoader(installation).load(keeping: nil))
      #expect(faults.isEmpty)
      guard case .withheld = ForcedDomainLoader(installation).loadProvenance(for: forced) else {
        Issue.record("not withheld")
        return
      }
      #expect(installation.isTrustedOwner(1001))
    }
  }

  // MARK: Going back (F09)

  @Test func olderFileInPlace() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 5, serial: 10, mark: 5)
    try temporary.install(generation: 7, serial: 12, mark: 7)
    let (current, _) = try loaded(temporary.load())
    try temporary.write(
      try TemporaryInstallation.file(generation: 5, serial: 10, mark: 5), to: temporary.installation.forcedFile)
    let refusal = "forced: generation 5 is refused: generation 7 is installed"
    let (fresh, faults) = try loaded(temporary.load())
    #expect(fresh.generation == 7)
    #expect(temporary.text(faults) == [refusal])
    let (kept, keptFaults) = try loaded(temporary.load(keeping: current))
    #expect(kept === current)
    #expect(temporary.text(keptFaults) == [refusal])
  }

  @Test func equalGenerationWithOtherContents() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 7, mark: 1)
    let (current, _) = try loaded(temporary.load())
    try temporary.write(try TemporaryInstallation.file(generation: 7, mark: 2), to: temporary.installation.forcedFile)
    let (kept, faults) = try loaded(temporary.load(keeping: current))
    #expect(kept === current)
    #expect(
      temporary.text(faults) == ["forced: generation 7 is refused: its contents are not those that were installed"])
  }

  @Test func wholeStateReplaced() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 7, serial: 12)
    let (current, _) = try loaded(temporary.load())
    // Marker and file of generation 5 together: a running process still knows better.
    try temporary.install(generation: 5, serial: 10)
    let (kept, faults) = try loaded(temporary.load(keeping: current))
    #expect(kept === current)
    #expect(temporary.text(faults) == ["forced: generation 5 is refused: generation 7 is in use"])
  }

  @Test func rollBackIsAHigherGeneration() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 7, serial: 12)
    let (current, _) = try loaded(temporary.load())
    try temporary.install(generation: 8, serial: 10)
    let (next, faults) = try loaded(temporary.load(keeping: current))
    #expect(next.generation == 8)
    #expect(faults == [])
  }

  @Test func lowerSerialThatTheMarkerDoesNotName() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 7, serial: 12)
    let (current, _) = try loaded(temporary.load())
    try temporary.write(
      try TemporaryInstallation.file(generation: 8, serial: 10), to: temporary.installation.forcedFile)
    let (kept, faults) = try loaded(temporary.load(keeping: current))
    #expect(kept === current)
    #expect(
      temporary.text(faults) == [
        "forced: generation 8 is refused: its serial 10 is older than the one in use, 12"
      ])
  }

  @Test func fileBeforeItsMarker() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 7, serial: 12)
    try temporary.write(
      try TemporaryInstallation.file(generation: 8, serial: 13), to: temporary.installation.forcedFile)
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 8)
    #expect(faults == [])
  }

  @Test func uninstalled() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 7)
    let (current, _) = try loaded(temporary.load())
    try Directory.removeTree(temporary.installation.generationsDirectory)
    try Directory.removeFile(temporary.installation.generationMarker)
    try Directory.removeFile(temporary.installation.forcedFile)
    guard case .notInstalled = temporary.load(keeping: current) else {
      throw DomainFault(path: "", message: "installed")
    }
  }
}
