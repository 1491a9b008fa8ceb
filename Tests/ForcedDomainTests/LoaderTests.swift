import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import ForcedDomain

/// An installation in a folder of its own, gone when the value is.
final class TemporaryInstallation {
  let installation: Installation

  init() throws {
    var template = Array("/tmp/forced-domain-tests-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    chmod(path, 0o755)
    installation = Installation(root: path)
    try Directory.createAll(installation.stateDirectory)
  }

  deinit { try? Directory.removeTree(installation.root) }

  /// - Parameter mark: the forced value; nil for a file that forces nothing.
  static func file(generation: UInt64, serial: UInt64 = 1, mark: Int64? = 0) throws -> [UInt8] {
    var writer = ForcedDomainWriter(kind: .forced)
    guard let mark else { return try writer.finish(FileStamp(generation: generation, serial: serial)) }
    let profile = writer.addProfile(ProfileReference(id: "p", title: "P"))
    writer.addEntry(
      key: writer.addKey(domain: writer.addDomain("d"), key: "k"), section: .forced, action: .replace, rank: Rank(),
      condition: 0, profile: profile, value: .integer(mark))
    return try writer.finish(FileStamp(generation: generation, serial: serial))
  }

  func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws {
    try Directory.createAll(FilePath.parent(of: path))
    try AtomicReplacement.write(bytes, to: path, mode: mode)
  }

  /// Installs a generation as the installer does: the file, then the marker.
  func install(generation: UInt64, serial: UInt64 = 1, mark: Int64? = 0) throws {
    let bytes = try Self.file(generation: generation, serial: serial, mark: mark)
    try write(bytes, to: installation.forcedFile)
    try write(bytes, to: installation.generationDirectory(generation) + "/forced")
    let domain = try ForcedDomain(bytes: bytes, expecting: [.forced])
    try write(
      GenerationMarker(
        generation: generation, serial: serial, sourceDigest: [], hostName: "lab-a-03", installedAt: 5,
        forcedChecksum: domain.checksum
      ).bytes, to: installation.generationMarker)
  }

  func load(keeping current: ForcedDomain? = nil) -> ForcedDomainLoad {
    ForcedDomainLoader(installation).load(keeping: current)
  }

  /// Faults as text, with paths below the root.
  func text(_ faults: [DomainFault]) -> [String] {
    faults.map { String($0.description.dropFirst(installation.stateDirectory.count + 1)) }
  }
}

@Suite("Loading an installation")
struct LoaderTests {
  private func loaded(_ load: ForcedDomainLoad) throws -> (ForcedDomain, [DomainFault]) {
    guard case .loaded(let domain, let faults) = load else {
      Issue.record("not loaded: \(load)")
      throw DomainFault(path: "", message: "not loaded")
    }
    return (domain, faults)
  }

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
    #expect(temporary.text(faults) == ["forced: is no regular file"])
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
  func unprivilegedReader() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 3)
    try temporary.write([1], to: temporary.installation.provenanceFile, mode: 0o640)
    // Below a root the effective user counts as root, so its own files are trusted and a stranger's are not.
    #expect(temporary.installation.isTrustedOwner(0))
    #expect(!temporary.installation.isTrustedOwner(1001))
    #expect(!Installation(root: "").isTrustedOwner(1001))
    let (forced, _) = try loaded(temporary.load())
    let withheld = try AsUser.run(1001) { () -> Bool in
      guard case .withheld = ForcedDomainLoader(temporary.installation).loadProvenance(for: forced) else {
        return false
      }
      guard case .loaded(_, let faults) = temporary.load(), faults.isEmpty else { return false }
      return temporary.installation.isTrustedOwner(1001)
    }
    #expect(withheld)
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

  // MARK: What may stand in

  static let missingMarker = "generation: is missing, although policies were installed here. Next: policyctl refresh"

  /// How a state directory is damaged, and what a fresh process then uses; nil: it locks.
  struct Loss: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let damage: @Sendable (TemporaryInstallation) throws -> Void
    let generation: UInt64?
    let faults: [String]
  }

  /// Each begins with the generations 0 (empty), 1 and 2, of which 2 is in use.
  static let losses: [Loss] = [
    Loss(
      testDescription: "the files of all generations but 0",
      damage: { temporary in
        try Directory.removeFile(temporary.installation.forcedFile)
        for number in [1, 2] as [UInt64] {
          try Directory.removeFile(temporary.installation.generationDirectory(number) + "/forced")
        }
      }, generation: nil,
      faults: [
        "forced: is not there", "generations/2/forced: is not there", "generations/1/forced: is not there",
        "generations/0/forced: forces nothing, so it can't stand in for a later generation",
      ]),
    Loss(
      testDescription: "the marker damaged, the files of all generations but 0 gone",
      damage: { temporary in
        try temporary.write([1], to: temporary.installation.generationMarker)
        try Directory.removeFile(temporary.installation.forcedFile)
        for number in [1, 2] as [UInt64] {
          try Directory.removeTree(temporary.installation.generationDirectory(number))
        }
      }, generation: nil,
      faults: [
        "generation: is damaged", "forced: is not there",
        "generations/0/forced: forces nothing, so it can't stand in for a later generation",
      ]),
    Loss(
      testDescription: "the marker gone, the empty file put back",
      damage: { temporary in
        try Directory.removeFile(temporary.installation.generationMarker)
        try temporary.write(
          try TemporaryInstallation.file(generation: 0, mark: nil), to: temporary.installation.forcedFile)
      }, generation: 2,
      faults: [
        missingMarker, "forced: generation 0 is refused: it forces nothing, and later policies were installed",
      ]),
    Loss(
      testDescription: "the marker damaged, the empty file put back, no generation kept, but the bundle",
      damage: { temporary in
        try temporary.write([1], to: temporary.installation.generationMarker)
        try temporary.write(
          try TemporaryInstallation.file(generation: 0, mark: nil), to: temporary.installation.forcedFile)
        try Directory.removeTree(temporary.installation.generationsDirectory)
        try temporary.write([1], to: temporary.installation.bundleFile)
      }, generation: nil,
      faults: [
        "generation: is damaged",
        "forced: generation 0 is refused: it forces nothing, and later policies were installed",
      ]),
    Loss(
      testDescription: "the marker gone",
      damage: { try Directory.removeFile($0.installation.generationMarker) }, generation: 2,
      faults: [missingMarker]),
    Loss(
      testDescription: "the marker and the forced file gone",
      damage: { temporary in
        try Directory.removeFile(temporary.installation.generationMarker)
        try Directory.removeFile(temporary.installation.forcedFile)
      }, generation: 2, faults: [missingMarker, "forced: is not there"]),
    Loss(
      testDescription: "all but the bundle gone",
      damage: { temporary in
        try Directory.removeTree(temporary.installation.stateDirectory)
        try temporary.write([1], to: temporary.installation.bundleFile)
      }, generation: nil, faults: [missingMarker, "forced: is not there"]),
    Loss(
      testDescription: "a generation that was never in use",
      damage: { temporary in
        try temporary.write(
          try TemporaryInstallation.file(generation: 3, serial: 3, mark: 3),
          to: temporary.installation.generationDirectory(3) + "/forced")
        try temporary.write([1], to: temporary.installation.forcedFile)
      }, generation: 2, faults: ["forced: no forced domain: 1 bytes are shorter than a header"]),
    Loss(
      testDescription: "no other than one that was never in use",
      damage: { temporary in
        try Directory.removeTree(temporary.installation.generationsDirectory)
        try temporary.write(
          try TemporaryInstallation.file(generation: 3, serial: 3, mark: 3),
          to: temporary.installation.generationDirectory(3) + "/forced")
        try temporary.write([1], to: temporary.installation.forcedFile)
      }, generation: nil, faults: ["forced: no forced domain: 1 bytes are shorter than a header"]),
    Loss(
      testDescription: "an older one that forces nothing is passed over",
      damage: { temporary in
        try temporary.install(generation: 3, serial: 3, mark: nil)
        try temporary.install(generation: 4, serial: 4, mark: 4)
        try Directory.removeFile(temporary.installation.forcedFile)
        try Directory.removeFile(temporary.installation.generationDirectory(4) + "/forced")
      }, generation: 2,
      faults: [
        "forced: is not there", "generations/4/forced: is not there",
        "generations/3/forced: forces nothing, so it can't stand in for a later generation",
      ]),
    Loss(
      testDescription: "the one in use forces nothing",
      damage: { temporary in
        try temporary.install(generation: 3, serial: 3, mark: nil)
        try Directory.removeFile(temporary.installation.forcedFile)
      }, generation: 3, faults: ["forced: is not there"]),
  ]

  @Test(arguments: losses) func nothingStandsInThatOpensAKey(row: Loss) throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 0, mark: nil)
    try temporary.install(generation: 1, serial: 1, mark: 1)
    try temporary.install(generation: 2, serial: 2, mark: 2)
    let (current, _) = try loaded(temporary.load())
    try row.damage(temporary)
    switch temporary.load() {
    case .loaded(let domain, let faults):
      #expect(domain.generation == row.generation)
      #expect(temporary.text(faults) == row.faults)
    case .unavailable(let faults):
      #expect(row.generation == nil)
      #expect(temporary.text(faults) == row.faults)
    case .notInstalled: Issue.record("counts as not installed")
    }
    // A process that runs goes on with what it has, or with something newer.
    let (kept, _) = try loaded(temporary.load(keeping: current))
    #expect(kept.generation >= 2)
  }

  /// Right after `init`: nothing was ever forced, so damage opens nothing.
  @Test func theEmptyGenerationStandsForItself() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 0, mark: nil)
    try Directory.removeFile(temporary.installation.forcedFile)
    #expect(try loaded(temporary.load()).0.generation == 0)
    try temporary.install(generation: 0, mark: nil)
    try temporary.write([1], to: temporary.installation.generationMarker)
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 0)
    #expect(temporary.text(faults) == ["generation: is damaged"])
  }
}

/// Runs a body in a child process under another user id.
enum AsUser {
  /// - Returns: what the body returned.
  static func run(_ userID: UInt32, _ body: () -> Bool) throws -> Bool {
    let child = try #require(Fork.child())
    if child == 0 {
      guard setgroups(0, nil) == 0, setgid(userID) == 0, setuid(userID) == 0 else { _exit(2) }
      _exit(body() ? 0 : 1)
    }
    var status: Int32 = 0
    #expect(waitpid(child, &status, 0) == child)
    return status == 0
  }

  /// `fork` is hidden from Swift, since a child of several threads may do little; ours opens files and ends.
  private enum Fork {
    static func child() -> pid_t? {
      typealias Function = @convention(c) () -> pid_t
      guard let symbol = dlsym(nil, "fork") else { return nil }
      return unsafeBitCast(symbol, to: Function.self)()
    }
  }
}
