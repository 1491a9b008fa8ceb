import ForcedDomain
import LinuxFiles
import PreferencesCore
import PropertyList
import Testing

@testable import PolicyCompiler

@Suite struct HostSetupTests {
  static let sample = (name: "example.yaml.sample", text: Array("version: 1\n".utf8))

  @Test func initialisationMakesWhatIsMissingOnce() throws {
    let host = TestHost()
    let made = try host.installer().initialise(host: "lab-a-03", sample: Self.sample)
    #expect(made.madeGeneration && made.isNewlyEnrolled && made.host.name == "lab-a-03" && made.faults.isEmpty)
    #expect(made.made.contains(host.installation.policiesDirectory + "/example.yaml.sample"))
    guard case .loaded(let domain, let faults) = ForcedDomainLoader(host.installation).load() else {
      Issue.record("not loaded")
      return
    }
    #expect(faults.isEmpty && domain.generation == 0 && domain.domains.isEmpty && domain.hostName == "lab-a-03")
    #expect(try HostEnrolment(of: host.installation).enrolledAt == TestHost.now)
    #expect(try host.installer().refresh().outcome == .unchanged)

    let before = try host.contents()
    let again = try host.installer(at: TestHost.now + 5).initialise(host: "another", sample: Self.sample)
    #expect(again.made.isEmpty && !again.madeGeneration && !again.isNewlyEnrolled && again.host.name == "lab-a-03")
    #expect(try host.contents() == before)
  }

  @Test func initialisationLeavesAnInstalledGeneration() throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    #expect(try !host.installer().initialise(host: "x").madeGeneration)
    #expect(try host.value("A") == .integer(1))
    // A lost marker is no licence for an empty generation.
    try Directory.removeFile(host.installation.generationMarker)
    let report = try host.installer().initialise(host: "x")
    #expect(!report.madeGeneration && report.faults.count == 1)
    #expect(try host.installer().refresh().generation == 2)
    #expect(try host.value("A") == .integer(1))
  }

  /// `init` broken off before the marker, or the marker lost right after it: nothing was ever forced, so nothing opens.
  @Test(arguments: [true, false]) func theEmptyGenerationsMarkerIsMended(byRefresh: Bool) throws {
    for damage in 0..<2 {
      let host = try TestHost().initialised()
      let good = try host.contents()
      if damage == 0 {
        try Directory.removeFile(host.installation.generationMarker)
      } else {
        try AtomicReplacement.write([1], to: host.installation.generationMarker, mode: 0o644)
      }
      if byRefresh {
        let report = try host.installer().refresh()
        #expect(report.outcome == .mended([host.installation.generationMarker]) && report.faults.count == 1)
      } else {
        #expect(try host.installer().initialise(host: "lab-a-03").madeGeneration)
      }
      #expect(try host.contents() == good)
    }
  }

  /// At each moment of `init` and `uninstall` applications find what was in force, or nothing at all; never a lock.
  @Test func settingUpAndRemovingLockNothing() async throws {
    let host = TestHost()
    let root = host.root
    let reader = Task.detached {
      var locked: [String] = []
      while !Task.isCancelled {
        if case .unavailable(let faults) = ForcedDomainLoader(Installation(root: root)).load() {
          locked.append("\(faults)")
        }
      }
      return locked
    }
    for serial in 1...16 as ClosedRange<UInt64> {
      try host.installer().enroll(host: "lab-a-03")
      if serial.isMultiple(of: 2) { _ = try host.installer().initialise(host: "lab-a-03") }
      _ = try host.installer().install(try TestPolicy(serial: serial, ["A": 1]).bundle(), from: "b")
      _ = try host.installer().uninstall()
    }
    reader.cancel()
    // The checks of owner and mode pass, so a lock would be a file that was missing for a moment.
    #expect(await reader.value == [])
  }

  @Test func enrolmentKeepsItsDate() throws {
    let host = try TestHost().initialised()
    #expect(try host.installer(at: 5).enroll(host: "lab-a-03")?.enrolledAt == TestHost.now)
    #expect(try HostEnrolment(of: host.installation).enrolledAt == TestHost.now)
    #expect(try host.installer(at: TestHost.now + 9).enroll(host: "lab-a-04")?.identity.name == "lab-a-03")
    #expect(
      try HostEnrolment(of: host.installation)
        == HostEnrolment(identity: HostIdentity(name: "lab-a-04"), enrolledAt: TestHost.now + 9))
    let error = InstallerTests.refusal { _ = try host.installer().enroll(host: "lab a") }
    #expect(
      error?.description == "'lab a' can't be a host's name: only letters, digits, hyphens and dots may stand in it"
        && error?.exitCode == 65)
  }

  @Test func uninstallationGivesTheHostBackAsItWas() throws {
    let host = TestHost()
    // Something of others was there before.
    try Directory.createAll(host.root + "/etc/other")
    try AtomicReplacement.write([1], to: host.root + "/etc/other/file", mode: 0o600)
    let before = try host.contents()
    _ = try host.installer().initialise(host: "lab-a-03", sample: Self.sample)
    _ = try KeyFiles.generateLocal(on: host.installation)
    guard let key = try KeyFiles.local(on: host.installation) else { throw TestHost.NotLoaded() }
    for serial in 1...3 as ClosedRange<UInt64> {
      _ = try host.installer().install(
        try TestPolicy(serial: serial, ["A": 1]).bundle().signed(with: key), from: "b")
    }
    try host.installer().enroll(host: "lab-a-05")
    let report = try host.installer().uninstall()
    #expect(report.kept.isEmpty && report.removed.contains(host.installation.hostFile))
    #expect(try host.contents() == before)
    guard case .notInstalled = ForcedDomainLoader(host.installation).load() else {
      Issue.record("still installed")
      return
    }
    let again = InstallerTests.refusal { _ = try host.installer().uninstall() }
    #expect(again?.reason == .notInitialised && again?.exitCode == 66)
  }

  @Test func uninstallationKeepsWhatAdministratorsWrote() throws {
    let host = TestHost()
    try Directory.createAll(host.installation.policiesDirectory + "/old")
    let before = try host.contents()
    _ = try host.installer().initialise(host: "lab-a-03", sample: Self.sample)
    let policy = host.installation.policiesDirectory + "/exam.yaml"
    try AtomicReplacement.write([1], to: policy, mode: 0o644)
    let own = host.installation.anyUserDefaultsDirectory + "/org.example.plist"
    try AtomicReplacement.write([1], to: own, mode: 0o644)
    let report = try host.installer().uninstall()
    #expect(report.kept == [own])
    var after = try host.contents()
    #expect(after.removeValue(forKey: "/etc/managed-preferences/policies/exam.yaml") != nil)
    #expect(after.removeValue(forKey: "/etc/managed-preferences/defaults/org.example.plist") != nil)
    #expect(after.removeValue(forKey: "/etc/managed-preferences/defaults/") != nil)
    #expect(after == before)
  }

  /// What writers leave beside the preference files for any user is ours to remove; the files are not.
  @Test func uninstallationRemovesTheLocksOfAnyUserDefaults() throws {
    let host = TestHost()
    let before = try host.contents()
    _ = try host.installer().initialise(host: "lab-a-03", sample: Self.sample)
    let locations = PreferenceLocations(homeDirectory: host.root + "/home", installation: host.installation)
    let domains = try [PersistentDomain.Host.any, .current].map {
      try PersistentDomain("org.example.Editor", user: .any, host: $0, in: locations)
    }
    for domain in domains { try domain.change { $0["k"] = .integer(1) } }
    let locks = try Directory.names(in: host.installation.anyUserLocksDirectory)
    #expect(locks == ["ByHost", "org.example.Editor.lock"])
    try Directory.removeFile(domains[0].path)
    #expect(try host.installer().uninstall().kept == [domains[1].path])
    try Directory.removeTree(host.installation.configurationDirectory)
    _ = try host.installer().initialise(host: "lab-a-03", sample: Self.sample)
    try domains[0].change { $0["k"] = .integer(1) }
    try Directory.removeFile(domains[0].path)
    #expect(try host.installer().uninstall().kept.isEmpty)
    #expect(try host.contents().filter { !$0.key.hasSuffix("/") } == before)
  }

  @Test func aRemovalThatWasBrokenOffIsFinished() throws {
    let host = TestHost()
    _ = try host.installer().initialise(host: "lab-a-03")
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    try Directory.removeFile(host.installation.generationMarker)
    try Directory.removeFile(host.installation.forcedFile)
    try Directory.removeFile(Footprint.file(of: host.installation))
    #expect(try host.installer().uninstall().kept.isEmpty)
    #expect(try host.contents().keys.sorted() == ["/etc/", "/var/", "/var/lib/", "/var/log/"])
  }

  @Test func aForgedListRemovesNothing() throws {
    let host = try TestHost().initialised()
    let victim = host.root + "/etc/passwd"
    try AtomicReplacement.write([1], to: victim, mode: 0o644)
    for line in ["/etc/passwd", "/etc/managed-preferences/../passwd", "etc/managed-preferences", "/etc//x"] {
      try AtomicReplacement.write(
        Array((line + "\n").utf8), to: Footprint.file(of: host.installation), mode: 0o644)
      let error = InstallerTests.refusal { _ = try host.installer().uninstall() }
      #expect(
        error?.reason == .notTrustworthy("it lists a path that this program never makes"), "\(line)")
    }
    #expect(Footprint.exists(victim))
    #expect(Footprint.exists(host.installation.generationMarker))
  }
}
