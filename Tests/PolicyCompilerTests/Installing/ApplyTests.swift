import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PolicyCompiler

/// Policies that are compiled where they are installed: serial numbers, and the memory of where they came from.
@Suite struct ApplyTests {
  private func apply(
    _ policy: TestPolicy, on host: TestHost, serial: Installer.SerialChoice, from folder: String = "/srv/policies"
  ) throws -> InstallReport {
    let bundle = try policy.bundle()
    return try host.installer().apply(
      payload: bundle.payload, sourceDigest: bundle.sourceDigest, serial: serial, from: folder)
  }

  @Test func theSerialNumberFollowsTheHighest() throws {
    let host = try TestHost().initialised()
    #expect(try apply(TestPolicy(sources: 1, ["A": 1]), on: host, serial: .atLeast(0)).serial == 0)
    #expect(try apply(TestPolicy(sources: 2, ["A": 2]), on: host, serial: .atLeast(500)).serial == 500)
    // A clock that was set back, and a number that lies ahead of it.
    #expect(try apply(TestPolicy(sources: 3, ["A": 3]), on: host, serial: .atLeast(7)).serial == 501)
    // The same policies again write nothing.
    let again = try apply(TestPolicy(sources: 3, ["A": 3]), on: host, serial: .atLeast(9_000))
    #expect(again.outcome == .unchanged && again.serial == 501)
    let older = InstallerTests.refusal {
      _ = try apply(TestPolicy(sources: 4, ["A": 4]), on: host, serial: .fixed(500), from: "/srv/my policies")
    }
    #expect(older?.reason == .olderSerial(500, highestSeen: 501))
    #expect(older?.next == ["policyctl --root \(host.root) apply '/srv/my policies'"])
  }

  /// Unix milliseconds of `TestHost.now`, and ten years after it.
  static let now = UInt64(TestHost.now) * 1000
  static let limit = now + 3653 * 86_400_000

  @Test(arguments: [(limit, true), (limit + 1, false), (.max - 1, false), (.max, false)] as [(UInt64, Bool)])
  func aNumberThatWouldLockOutTheNext(serial: UInt64, isAccepted: Bool) throws {
    let host = try TestHost().initialised()
    let before = try host.contents()
    let bundle = try TestPolicy(serial: serial, ["A": 1]).bundle()
    if isAccepted {
      #expect(try host.installer().install(bundle, from: "lab.bundle").outcome == .installed)
      // What was accepted stays so, whatever the clock says.
      #expect(try host.installer(at: 0).install(bundle, from: "lab.bundle").outcome != .unchanged)
      #expect(
        try apply(TestPolicy(sources: 9, ["A": 9]), on: host, serial: .atLeast(Self.now)).serial == serial + 1)
      return
    }
    for error in [
      InstallerTests.refusal { _ = try host.installer().install(bundle, from: "lab.bundle") },
      InstallerTests.refusal {
        _ = try apply(TestPolicy(["A": 1]), on: host, serial: .fixed(serial), from: "lab.bundle")
      },
    ] {
      #expect(
        error?.description
          == "lab.bundle: serial number \(serial) is more than ten years of milliseconds ahead (the highest today is "
          + "\(Self.limit)): later bundles would be refused as older")
      #expect(error?.exitCode == 65)
    }
    #expect(try host.contents() == before)
    #expect(throws: SerialNumber.TooHigh(serial: serial, limit: Self.limit)) {
      try SerialNumber.validate(serial, now: TestHost.now)
    }
  }

  @Test func aClockThatWasResetRefusesNoGoodBundle() throws {
    let host = try TestHost().initialised()
    let bundle = try TestPolicy(serial: Self.now, ["A": 1]).bundle()
    #expect(try host.installer(at: 0).install(bundle, from: "b").outcome == .installed)
    try SerialNumber.validate(Self.now, now: -5)
    for now in [Int64.max, Int64.max / 1000] as [Int64] {
      #expect(throws: SerialNumber.TooHigh.self) { try SerialNumber.validate(.max, now: now) }
    }
  }

  /// A host that came by the last number before it was refused: nothing can follow, and that is said.
  @Test func afterTheLastNumber() throws {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try TestPolicy(["A": 1]).bundle(), from: "b")
    guard var marker = try ForcedDomainLoader(host.installation).marker() else { throw TestHost.NotLoaded() }
    marker.serial = .max
    try AtomicReplacement.write(marker.bytes, to: host.installation.generationMarker, mode: 0o644)
    let error = InstallerTests.refusal {
      _ = try apply(TestPolicy(sources: 2, ["A": 2]), on: host, serial: .atLeast(5))
    }
    #expect(error?.reason == .olderSerial(5, highestSeen: .max))
    #expect(error?.next == ["policyctl --root \(host.root) uninstall", "policyctl --root \(host.root) init"])
  }

  /// Of calls at once each is installed: the number is taken when it is its turn.
  @Test func callsAtOnceFollowEachOther() async throws {
    let host = try TestHost().initialised()
    let root = host.root
    await withTaskGroup(of: Void.self) { group in
      for number in 1...6 {
        group.addTask {
          await #expect(processExitsWith: .success) { [root = root as String, number = number as Int] in
            let bundle = try TestPolicy(sources: UInt8(number), ["A": number]).bundle()
            let report = try Installer(Installation(root: root)).apply(
              payload: bundle.payload, sourceDigest: bundle.sourceDigest, serial: .atLeast(1), from: "policies")
            guard report.outcome == .installed else { exit(1) }
          }
        }
      }
    }
    let marker = try #require(try ForcedDomainLoader(host.installation).marker())
    #expect(marker.generation == 6 && marker.serial == 6)
  }

  @Test func theMarkerRemembersTheSource() throws {
    let host = try TestHost().initialised()
    func source() throws -> InstalledSource? { try ForcedDomainLoader(host.installation).marker()?.source }
    #expect(try source() == nil)
    let policy = TestPolicy(["A": 1])
    _ = try apply(policy, on: host, serial: .atLeast(1000), from: "/srv/policies/")
    #expect(try source() == .folder("/srv/policies"))
    let forced = try FileMetadata.of(host.installation.forcedFile).inode
    // The same policies from elsewhere: nothing changes but where they are said to come from.
    let report = try host.installer().install(try policy.bundle(), from: "/srv/lab.bundle")
    #expect(report.outcome == .unchanged && report.generation == 1)
    #expect(try source() == .bundleFile("/srv/lab.bundle"))
    #expect(try FileMetadata.of(host.installation.forcedFile).inode == forced)
    #expect(try host.loaded().generation == 1)
    // A refresh, one that writes a new generation included, and one after the loss of the marker.
    _ = try host.installer().refresh()
    try host.installer().enroll(host: "lab-a-04")
    #expect(try host.installer().refresh().generation == 2)
    #expect(try source() == .bundleFile("/srv/lab.bundle"))
    #expect(try ForcedDomainLoader(host.installation).marker()?.hostName == "lab-a-04")
    try Directory.removeFile(host.installation.generationMarker)
    #expect(try host.installer().refresh().generation == 3)
    #expect(try source() == .bundleFile("/srv/lab.bundle"))
  }

  @Test func pathsFromTheRootOn() throws {
    let current = String(cString: try #require(getcwd(nil, 0)))
    let parts = current.split(separator: "/")
    for (path, absolute) in [
      ("/srv/policies", "/srv/policies"), ("/srv//./policies/", "/srv/policies"), ("/", "/"),
      ("/srv/link/../policies", "/srv/link/../policies"), ("policies", current + "/policies"),
      (".", current), ("./a/../b", current + "/a/../b"),
      ("../x", "/" + (parts.dropLast() + ["x"]).joined(separator: "/")),
    ] {
      #expect(InstalledSource.absolute(path) == absolute, "\(path)")
    }
  }

  /// What to type next names the folder, never the folder as a bundle to be written.
  @Test func theNextCommandOfARefusedFolder() throws {
    let host = try HostTrustTests.trustingHost()
    let error = InstallerTests.refusal {
      _ = try apply(TestPolicy(["A": 1]), on: host, serial: .atLeast(1), from: "policies")
    }
    #expect(error?.reason == .refused(.unsigned))
    #expect(
      error?.next == [
        "policyctl --root \(host.root) key generate --local", "policyctl --root \(host.root) apply policies",
      ])
    var policy = TestPolicy(["A": 1])
    policy.userGroups = [UserGroup(name: "g", names: ["nobody-knows"])]
    policy.values[0].condition = Condition(users: UserSelector(include: [.group("g")]))
    let plain = try TestHost().initialised()
    let unresolved = InstallerTests.refusal { _ = try apply(policy, on: plain, serial: .atLeast(1), from: "policies") }
    #expect(
      unresolved?.next == [
        "getent passwd nobody-knows", "policyctl --root \(plain.root) apply policies --allow-unresolved",
      ])
  }
}
