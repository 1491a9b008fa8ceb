import ForcedDomain
import LinuxFiles
import PropertyList
import Testing

@testable import PolicyCompiler

@Suite struct InstallerTests {
  static func refusal(_ body: () throws -> Void) -> InstallError? {
    do {
      try body()
      return nil
    } catch {
      return error as? InstallError
    }
  }

  @Test func installsAndCounts() throws {
    let host = try TestHost().initialised()
    var policy = TestPolicy(["A": 1, "B": 2])
    // Mondays 9:00 in Berlin is an hour away.
    let exam = WeeklyWindow(days: 1, fromMinute: 540, toMinute: 690, timeZone: "Europe/Berlin")
    policy.values.append(("C", .boolean(true), Condition(windows: [exam])))
    policy.values.append(("D", .boolean(true), Condition(hosts: HostSelector(include: [.pattern("lab-b-*")]))))
    policy.recommended = [("T", .string("light"))]
    let report = try host.installer().install(try policy.bundle(), from: "lab.bundle")
    #expect(report.outcome == .installed)
    #expect(report.generation == 1 && report.host.name == "lab-a-03" && report.serial == 1000)
    #expect(report.forcedKeys == 3 && report.forcedDomains == 1 && report.recommendedKeys == 1)
    #expect(report.windows == 1 && report.nextEdge == TestHost.now + 3600 && report.nextEdgeZone == "Europe/Berlin")
    #expect(report.trust == .noKeysToCheck && report.faults.isEmpty && report.pruned.isEmpty)
    #expect(try host.value("A") == .integer(1))
    #expect(try host.value("C") == nil)
    #expect(try host.value("C", at: TestHost.now + 3600) == .boolean(true))
    #expect(try host.value("D") == nil)
    #expect(try host.loaded().hostName == "lab-a-03")
    let contents = try host.contents()
    for (file, mode) in [
      ("bundle", "600"), ("forced", "644"), ("provenance", "640"), ("generation", "644"),
      ("generations/1/bundle", "600"),
      ("generations/1/forced", "644"), ("generations/1/provenance", "640"), ("generations/1/generation", "644"),
    ] {
      #expect(contents["/var/lib/managed-preferences/" + file]?.hasPrefix(mode + " ") == true, "\(file)")
    }
    #expect(!contents.keys.contains { $0.hasSuffix(".tmp") })
  }

  /// `SOURCE_DATE_EPOCH=0` is a serial number like another.
  @Test func theSerialNumberZero() throws {
    let host = try TestHost().initialised()
    let bundle = try TestPolicy(serial: 0, ["A": 1]).bundle()
    #expect(try host.installer().install(bundle, from: "b").generation == 1)
    #expect(try host.installer().install(bundle, from: "b").outcome == .unchanged)
    #expect(try host.installer().refresh().outcome == .unchanged)
  }

  @Test func aRemovedKeyIsFreeAtTheNextGeneration() throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1, "B": 2]).bundle(), from: "b")
    let report = try host.installer().install(try TestPolicy(serial: 1001, sources: 2, ["A": 1]).bundle(), from: "b")
    #expect(report.generation == 2)
    #expect(try host.value("A") == .integer(1))
    #expect(try host.value("B") == nil)
  }

  @Test func theSameBundleAgainChangesNothing() throws {
    let host = try TestHost().initialised()
    let bundle = try TestPolicy(["A": 1]).bundle()
    _ = try host.installer().install(bundle, from: "b")
    let before = try host.contents()
    let inode = try FileMetadata.of(host.installation.forcedFile).inode
    let report = try host.installer(at: TestHost.now + 86400).install(bundle, from: "b")
    #expect(report.outcome == .unchanged && report.generation == 1 && report.forcedKeys == 1)
    #expect(try host.contents() == before)
    #expect(try FileMetadata.of(host.installation.forcedFile).inode == inode)
    #expect(try host.installer().installedBundle() == bundle)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let id: String
    let serial: UInt64
    let sources: UInt8
    let values: [String: Int]
    let message: String
    let exitCode: Int32
    var testDescription: String { id }
  }

  static let refused: [Refused] = [
    Refused(
      id: "older", serial: 999, sources: 2, values: ["A": 2],
      message: "lab.bundle: serial number 999 is older than 1000, the highest that was installed here", exitCode: 77),
    Refused(
      id: "same serial, other sources", serial: 1000, sources: 2, values: ["A": 2],
      message: "lab.bundle: a bundle with serial number 1000 and other contents is installed here", exitCode: 77),
    Refused(
      id: "same serial and sources, other payload", serial: 1000, sources: 1, values: ["A": 2],
      message: "lab.bundle: a bundle with serial number 1000 and other contents is installed here", exitCode: 77),
  ]

  @Test(arguments: refused) func olderAndReusedSerialNumbers(row: Refused) throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    let before = try host.contents()
    let bundle = try TestPolicy(serial: row.serial, sources: row.sources, row.values).bundle()
    let error = Self.refusal { _ = try host.installer().install(bundle, from: "lab.bundle") }
    #expect(error?.description == row.message)
    #expect(error?.exitCode == row.exitCode)
    #expect(error?.next == ["policyctl compile DIR -o lab.bundle"])
    #expect(try host.contents() == before)
  }

  @Test func theHighestSerialSurvivesTheLossOfTheMarkerAndTheLossIsReported() throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    try Directory.removeFile(host.installation.generationMarker)
    let older = try TestPolicy(serial: 999, sources: 2, ["A": 2]).bundle()
    #expect(
      Self.refusal { _ = try host.installer().install(older, from: "b") }?.reason
        == .olderSerial(999, highestSeen: 1000))
    let report = try host.installer().install(try TestPolicy(serial: 1001, sources: 2, ["A": 2]).bundle(), from: "b")
    #expect(report.generation == 2)
    #expect(
      report.faults == [
        "\(host.installation.generationMarker): the marker is missing although generations were installed here; "
          + "the highest serial number that the other files name is 1000"
      ])
    #expect(try host.value("A") == .integer(2))
  }

  /// Applications that run may have that generation in use, and would not take other contents under its number.
  @Test func aNumberIsNotUsedAgainAfterTheLossOfAllButTheProvenance() throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    let running = try host.loaded()
    try AtomicReplacement.write([1], to: host.installation.generationMarker, mode: 0o644)
    try Directory.removeFile(host.installation.forcedFile)
    try Directory.removeTree(host.installation.generationDirectory(1))
    let report = try host.installer().install(try TestPolicy(serial: 1001, sources: 2, ["A": 2]).bundle(), from: "b")
    #expect(report.generation == 2)
    guard case .loaded(let next, let faults) = ForcedDomainLoader(host.installation).load(keeping: running) else {
      Issue.record("not loaded")
      return
    }
    #expect(next.generation == 2 && faults.isEmpty)
  }

  /// Marker and bundle are lost together: the bundle kept beside a generation is the right one.
  @Test func aRefreshWithoutMarkerAndBundle() throws {
    let host = try TestHost().initialised()
    for serial in 1...3 as ClosedRange<UInt64> {
      _ = try host.installer().install(
        try TestPolicy(serial: serial, sources: UInt8(serial), ["A": Int(serial)]).bundle(), from: "b")
    }
    try Directory.removeFile(host.installation.generationMarker)
    try Directory.removeFile(host.installation.bundleFile)
    try Directory.removeFile(host.installation.forcedFile)
    #expect(try host.value("A") == .integer(3))
    #expect(try host.installer().refresh().generation == 4)
    #expect(try host.value("A") == .integer(3))
    #expect(try host.installer().refresh().faults.isEmpty)
  }

  @Test func aDamagedMarkerIsReportedAndMended() throws {
    let host = try TestHost().initialised()
    let bundle = try TestPolicy(["A": 1]).bundle()
    _ = try host.installer().install(bundle, from: "b")
    try AtomicReplacement.write(Array("rubbish".utf8), to: host.installation.generationMarker, mode: 0o644)
    let report = try host.installer().refresh()
    #expect(report.outcome == .installed && report.generation == 2)
    #expect(report.faults == ["\(host.installation.generationMarker): is damaged"])
    #expect(try host.installer().refresh().faults.isEmpty)
  }

  @Test func anOldBundlePutBackIsNotRefreshed() throws {
    let host = try TestHost().initialised()
    let old = try TestPolicy(["A": 1]).bundle()
    _ = try host.installer().install(old, from: "b")
    _ = try host.installer().install(try TestPolicy(serial: 1001, sources: 2, ["A": 2]).bundle(), from: "b")
    let good = try host.contents()
    try AtomicReplacement.write(old.encoded(), to: host.installation.bundleFile, mode: 0o600)
    let report = try host.installer().refresh()
    #expect(report.outcome == .mended([host.installation.bundleFile]) && report.generation == 2)
    #expect(try host.contents() == good)
    // Without any copy of the right one there is nothing to refresh from, and that is said.
    try AtomicReplacement.write(old.encoded(), to: host.installation.bundleFile, mode: 0o600)
    try Directory.removeTree(host.installation.generationDirectory(2))
    let error = Self.refusal { _ = try host.installer().refresh() }
    #expect(error?.exitCode == 65)
    #expect(
      error?.description == host.installation.bundleFile
        + ": it is not the bundle that generation 2 was made of, and no copy is left")
    #expect(try host.value("A") == .integer(2))
  }

  @Test(arguments: ["forced", "provenance", "bundle", "generations/1/forced"])
  func damagedFilesAreMended(file: String) throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    let good = try host.contents()
    let path = FilePath.join(host.installation.stateDirectory, file)
    let (bytes, metadata) = try WholeFile.read(path)
    for change in 0..<4 {
      switch change {
      case 0: try Directory.removeFile(path)
      case 1: try AtomicReplacement.write(Array(bytes.dropLast()), to: path, mode: metadata.permissions)
      case 2: try AtomicReplacement.write(bytes, to: path, mode: 0o666)
      default:
        var flipped = bytes
        flipped[flipped.count / 2] ^= 1
        try AtomicReplacement.write(flipped, to: path, mode: metadata.permissions)
      }
      #expect(try host.value("A") == .integer(1))
      let report = try host.installer().refresh()
      #expect(report.generation == 1)
      guard case .mended = report.outcome else {
        Issue.record("change \(change) of \(file): \(report.outcome)")
        continue
      }
      #expect(try host.contents() == good)
    }
  }

  @Test func onlyTheLastGenerationsAreKept() throws {
    let host = try TestHost().initialised()
    var pruned: [UInt64] = []
    for serial in 1...13 {
      pruned += try host.installer().install(
        try TestPolicy(serial: UInt64(serial), sources: UInt8(serial), ["A": serial]).bundle(), from: "b"
      ).pruned
    }
    #expect(pruned == [0, 1, 2, 3])
    let listings = try host.installer().generations()
    #expect(listings.map(\.number) == (4...13).reversed().map { UInt64($0) })
    #expect(listings.map(\.isInUse) == [true] + [Bool](repeating: false, count: 9))
    #expect(listings.allSatisfy { $0.fault == nil && $0.marker?.serial == $0.number })
  }

  @Test func anUnknownHostIsRefused() throws {
    let host = try TestHost().initialised()
    var policy = TestPolicy(["A": 1])
    policy.annex = [
      "inventory": .dictionary([
        "hosts": .dictionary(["lab-b": .dictionary(["names": .array([.string("lab-b-[01-30]")])])])
      ]),
      "unknownHosts": .string("refuse"),
    ]
    let before = try host.contents()
    let bundle = try policy.bundle()
    let error = Self.refusal { _ = try host.installer().install(bundle, from: "lab.bundle") }
    #expect(
      error?.description
        == "lab.bundle: host 'lab-a-03' is not in the inventory, and the inventory refuses unknown hosts")
    #expect(error?.exitCode == 65)
    #expect(error?.next == ["policyctl --root \(host.root) enroll --host NAME"])
    #expect(try host.contents() == before)
    try host.installer().enroll(host: "lab-b-07.example.org")
    #expect(try host.installer().install(bundle, from: "lab.bundle").host.name == "lab-b-07.example.org")
  }

  @Test func anotherEnrolmentIsFollowedByTheSameBundle() throws {
    let host = try TestHost().initialised()
    var policy = TestPolicy(["A": 1])
    policy.values.append(("B", .integer(2), Condition(hosts: HostSelector(include: [.pattern("lab-a-07")]))))
    let bundle = try policy.bundle()
    _ = try host.installer().install(bundle, from: "b")
    #expect(try host.value("B") == nil)
    try host.installer().enroll(host: "lab-a-07")
    let report = try host.installer().install(bundle, from: "b")
    #expect(report.outcome == .installed && report.generation == 2)
    #expect(try host.value("B") == .integer(2))
  }

  @Test func withoutEnrolmentNothingIsInstalledOrMade() throws {
    let host = TestHost()
    let bundle = try TestPolicy(["A": 1]).bundle()
    let error = Self.refusal { _ = try host.installer().install(bundle, from: "b") }
    #expect(error?.reason == .notEnrolled && error?.exitCode == 66)
    #expect(error?.next == ["policyctl --root \(host.root) enroll --host NAME"])
    #expect(try host.contents().isEmpty)
    try host.installer().enroll(host: "lab-a-03")
    #expect(Self.refusal { _ = try host.installer().refresh() }?.reason == .notInitialised)
    #expect(try host.installer().install(bundle, from: "b").generation == 1)
  }

  @Test func aBundleThatIsNoneIsRefused() throws {
    let host = try TestHost().initialised()
    let path = host.root + "/lab.bundle"
    let missing = Self.refusal { _ = try Bundle(contentsOf: path) }
    #expect(missing?.description == "cannot open \(path): No such file or directory" && missing?.exitCode == 66)
    try AtomicReplacement.write(Array("rubbish rubbish".utf8), to: path, mode: 0o644)
    let error = Self.refusal { _ = try Bundle(contentsOf: path) }
    #expect(error?.description == "\(path): it is not a bundle of policies (policyctl compile makes one)")
    #expect(error?.exitCode == 65)
    // A sound envelope around something else.
    let bundle = Bundle(serial: 1, sourceDigest: [UInt8](repeating: 0, count: 32), payload: Array("rubbish".utf8))
    let payload = Self.refusal { _ = try host.installer().install(bundle, from: path) }
    #expect(payload?.exitCode == 65)
    #expect(payload?.description.hasPrefix("\(path): the bundle's payload can't be used: ") == true)
    // A forced file is no payload.
    let forced = try WholeFile.read(host.installation.forcedFile).bytes
    let kind = Self.refusal {
      _ = try host.installer().install(
        Bundle(serial: 1, sourceDigest: [UInt8](repeating: 0, count: 32), payload: forced), from: path)
    }
    #expect(kind?.exitCode == 65)
    #expect(try host.installer().generations().map(\.number) == [0])
  }

  @Test func anUnknownZoneIsRefused() throws {
    let host = try TestHost().initialised()
    var policy = TestPolicy()
    let window = WeeklyWindow(days: 1, fromMinute: 540, toMinute: 690, timeZone: "Europe/Atlantis")
    policy.values = [("A", .integer(1), Condition(windows: [window]))]
    let bundle = try policy.bundle()
    let error = Self.refusal { _ = try host.installer().install(bundle, from: "b") }
    #expect(error?.exitCode == 69)
    #expect(
      error?.description
        == "time zone 'Europe/Atlantis' is not known on this system (its files come with the package tzdata)")
  }

  @Test func refreshMovesTheHorizonOnceAYear() throws {
    let host = try TestHost().initialised()
    var policy = TestPolicy()
    let exam = WeeklyWindow(days: 1, fromMinute: 540, toMinute: 690, timeZone: "Europe/Berlin")
    policy.values = [("A", .integer(1), Condition(windows: [exam]))]
    _ = try host.installer().install(try policy.bundle(), from: "b")
    #expect(try host.installer(at: TestHost.now + 30 * 86400).refresh().outcome == .unchanged)
    let report = try host.installer(at: TestHost.now + 40 * 86400).refresh()
    #expect(report.outcome == .installed && report.generation == 2)
    #expect(report.horizon == WindowExpansion.horizon(at: TestHost.now + 40 * 86400))
    #expect(try host.installer(at: TestHost.now + 39 * 86400).refresh().outcome == .unchanged)
    // With a clock that was turned back into the year before, that year's windows have to be there.
    #expect(try host.installer().refresh().horizon.contains(TestHost.now))
  }
}
