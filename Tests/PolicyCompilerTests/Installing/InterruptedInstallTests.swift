import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PolicyCompiler

/// Installations that break off: by an error, by `SIGKILL`, on a full disk, and several at once.
@Suite struct InterruptedInstallTests {
  static let first = TestPolicy(serial: 1000, sources: 1, ["A": 1])
  static let second = TestPolicy(serial: 1001, sources: 2, ["A": 2])

  static func installed() throws -> TestHost {
    let host = try TestHost().initialised()
    _ = try host.installer().install(try first.bundle(), from: "b")
    return host
  }

  /// Whatever the moment: a sound generation is in use, and the next installation puts everything in order.
  static func checkAndMend(_ host: TestHost, _ step: InstallStep) throws {
    guard case .loaded(let domain, _) = ForcedDomainLoader(host.installation).load() else {
      Issue.record("nothing readable after \(step)")
      return
    }
    #expect([1, 2].contains(domain.generation))
    let value = try host.value("A")
    #expect(value == .integer(PropertyListInteger(Int(domain.generation))), "\(step)")

    let report = try host.installer().install(try second.bundle(), from: "b")
    #expect(report.outcome == .installed && report.generation > domain.generation, "\(step)")
    #expect(try host.value("A") == .integer(2))
    let listings = try host.installer().generations()
    #expect(listings.allSatisfy { $0.fault == nil })
    // The number that was broken off is never used again, and nothing of it is left.
    #expect(listings.map(\.number) == [report.generation, 1, 0], "\(step)")
    #expect(try !host.contents().keys.contains { $0.contains(".tmp") })
    #expect(try host.installer().refresh().outcome == .unchanged)
  }

  @Test(arguments: InstallStep.all) func anErrorAtAnyStepLeavesTheOldGeneration(step: InstallStep) throws {
    let host = try Self.installed()
    let before = try host.contents()
    var installer = host.installer()
    installer.store.willReach = { reached throws(InstallError) in
      if reached == step {
        throw InstallError(writing: FileError("write", path: "x", errno: .noSpace))
      }
    }
    let bundle = try Self.second.bundle()
    let error = InstallerTests.refusal { _ = try installer.install(bundle, from: "b") }
    #expect(error?.exitCode == 74)
    #expect(error?.description == "cannot write x: No space left on device")
    // Everything is as it was, but that a number which readers may have seen is used up.
    var after = try host.contents()
    let used = after.removeValue(forKey: "/var/lib/managed-preferences/generations/2/")
    #expect(after == before)
    #expect((used != nil) == (step == .replacingMarker))
    #expect(try host.loaded().generation == 1)
    try Self.checkAndMend(host, step)
  }

  @Test(arguments: InstallStep.all.indices) func aKillAtAnyStepLeavesASoundState(index: Int) async throws {
    let host = try Self.installed()
    let root = host.root
    await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, index = index as Int] in
      var installer = Installer(Installation(root: root), clock: { TestHost.now })
      installer.store.willReach = { reached in
        if reached == InstallStep.all[index] { kill(getpid(), SIGKILL) }
      }
      _ = try installer.install(try InterruptedInstallTests.second.bundle(), from: "b")
    }
    #expect(try ForcedDomainLoader(host.installation).marker()?.generation == 1)
    try Self.checkAndMend(host, InstallStep.all[index])
  }

  /// After a crash just before the marker, readers may have the new file already: a refresh must not lead back.
  @Test func refreshAfterACrashGoesForward() async throws {
    let host = try Self.installed()
    let root = host.root
    await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String] in
      var installer = Installer(Installation(root: root), clock: { TestHost.now })
      installer.store.willReach = { reached in
        if reached == .replacingMarker { kill(getpid(), SIGKILL) }
      }
      _ = try installer.install(try InterruptedInstallTests.second.bundle(), from: "b")
    }
    let inUse = try host.loaded()
    #expect(inUse.generation == 2)
    let report = try host.installer().refresh()
    #expect(report.outcome == .installed && report.generation == 3)
    guard case .loaded(let domain, let faults) = ForcedDomainLoader(host.installation).load(keeping: inUse) else {
      Issue.record("not loaded")
      return
    }
    #expect(domain.generation == 3 && faults.isEmpty)
    #expect(try host.value("A") == .integer(1))
  }

  /// What was refused must not come into use by later damage.
  @Test(arguments: ["bundle", "provenance", "forced", "generation"])
  func aGenerationThatWasRefusedNeverAnswers(place: String) throws {
    let host = try Self.installed()
    let path = FilePath.join(host.installation.stateDirectory, place)
    try Directory.removeTree(path)
    try Directory.create(path)
    try AtomicReplacement.write([1], to: path + "/file", mode: 0o644)
    let before = try host.contents()
    let bundle = try Self.second.bundle()
    let error = InstallerTests.refusal { _ = try host.installer().install(bundle, from: "b") }
    #expect(error?.description == "\(path): a directory that is not empty stands where a file of ours belongs")
    #expect(error?.exitCode == 73)
    #expect(error?.next == ["sudo mv \(path) /root/", "policyctl --root \(host.root) refresh"])
    #expect(try host.contents() == before)
    #expect(InstallerTests.refusal { _ = try host.installer().refresh() }?.reason == .obstructed)
    #expect(InstallerTests.refusal { _ = try host.installer().uninstall() }?.reason == .obstructed)
    #expect(try host.value("A") == .integer(1))
    try? Directory.removeFile(host.installation.forcedFile)
    #expect(try host.value("A") == .integer(1))
    // An empty one is nobody's, and goes.
    try Directory.removeFile(path + "/file")
    #expect(try host.installer().refresh().faults.allSatisfy { $0.contains(host.installation.stateDirectory) })
    #expect(try host.installer().install(bundle, from: "b").outcome == .installed)
    #expect(try host.installer().refresh().outcome == .unchanged)
    #expect(try host.value("A") == .integer(2))
  }

  /// Each file after the first may be the one for which the disk has no room; the bundle is the largest.
  @Test func aFullDiskAtTheBundleInUse() throws {
    let host = try Self.installed()
    let before = try host.contents()
    var installer = host.installer()
    installer.store.willReach = { reached throws(InstallError) in
      guard reached == .replacing("provenance") else { return }
      throw InstallError(writing: FileError("write", path: "x", errno: .noSpace))
    }
    let bundle = try Self.second.bundle()
    #expect(InstallerTests.refusal { _ = try installer.install(bundle, from: "b") } != nil)
    #expect(try host.contents() == before)
    try AtomicReplacement.write([1], to: host.installation.forcedFile, mode: 0o644)
    #expect(try host.loaded().generation == 1)
  }

  /// What killed writers leave is gone after the next installation, whether that writes or not.
  @Test func leftTemporaryFilesAreTidied() throws {
    let host = try Self.installed()
    let before = try host.contents()
    let (state, settings) = (host.installation.stateDirectory, host.installation.configurationDirectory)
    for path in [
      state + "/.bundle.1x.tmp", state + "/.forced.1x.tmp", state + "/.provenance.1x.tmp",
      state + "/.generation.1x.tmp", state + "/.made.1x.tmp", state + "/.forced.previous.tmp",
      settings + "/.host.yaml.1x.tmp", settings + "/.local-key.1x.tmp",
      host.installation.trustedKeysDirectory + "/.a.pub.1x.tmp",
      host.installation.generationsDirectory + "/.7.tmp/forced",
    ] {
      try Directory.createAll(FilePath.parent(of: path))
      try AtomicReplacement.write([1], to: path, mode: 0o600)
    }
    // The audit's files are written by others, without this lock.
    let foreign = state + "/.audit-anchor.1x.tmp"
    try AtomicReplacement.write([1], to: foreign, mode: 0o600)
    #expect(try host.installer().refresh().outcome == .unchanged)
    try Directory.removeFile(foreign)
    #expect(try host.contents() == before)
  }

  @Test func killsAtRandomMoments() async throws {
    let host = try Self.installed()
    let root = host.root
    for round in 0..<12 {
      let delay = useconds_t(2_000 + round * 1_700)
      await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, delay = delay as useconds_t] in
        let installer = Installer(Installation(root: root), clock: { TestHost.now })
        var isArmed = false
        while true {
          let marker = try ForcedDomainLoader(Installation(root: root)).marker()
          let serial = (marker?.serial ?? 0) + 1
          let policy = TestPolicy(serial: serial, sources: UInt8(serial % 251), ["A": Int(serial)])
          _ = try installer.install(try policy.bundle(), from: "b")
          if !isArmed {
            isArmed = true
            var thread = pthread_t()
            let argument = UnsafeMutableRawPointer(bitPattern: Int(delay))
            pthread_create(
              &thread, nil,
              { argument in
                usleep(useconds_t(Int(bitPattern: argument)))
                kill(getpid(), SIGKILL)
                return nil
              }, argument)
          }
        }
      }
      let domain = try host.loaded()
      #expect(try host.value("A") == .integer(PropertyListInteger(Int(domain.serial))))
      let marker = try #require(try ForcedDomainLoader(host.installation).marker())
      #expect(domain.generation == marker.generation || domain.generation == marker.generation + 1)
    }
    let serial = try #require(try ForcedDomainLoader(host.installation).marker()).serial + 10
    let report = try host.installer().install(try TestPolicy(serial: serial, ["A": 5]).bundle(), from: "b")
    #expect(report.outcome == .installed && report.faults.isEmpty)
    #expect(try host.installer().refresh().outcome == .unchanged)
  }

  @Test func eightInstallersMakeOneSequence() async throws {
    let host = try TestHost().initialised()
    let root = host.root
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          await #expect(processExitsWith: .success) { [root = root as String] in
            let installation = Installation(root: root)
            var done = 0
            while done < 4 {
              let serial = (try ForcedDomainLoader(installation).marker()?.serial ?? 0) + 1
              let policy = TestPolicy(serial: serial, sources: UInt8.random(in: 0...255), ["A": Int(serial)])
              do throws(InstallError) {
                let report = try Installer(installation, clock: { TestHost.now }).install(
                  try! policy.bundle(), from: "b")
                if report.outcome == .installed { done += 1 }
              } catch {
                // Another process was quicker.
                switch error.reason {
                case .olderSerial, .serialReused: continue
                default: throw error
                }
              }
            }
          }
        }
      }
      // Meanwhile a reader never sees anything but whole generations, in ascending order.
      group.addTask {
        var current: ForcedDomain?
        for _ in 0..<400 {
          let load = ForcedDomainLoader(host.installation).load(keeping: current)
          guard case .loaded(let domain, _) = load else {
            Issue.record("a reader found nothing: \(load)")
            return
          }
          #expect(domain.generation >= current?.generation ?? 0)
          current = domain
          usleep(1_000)
        }
      }
    }
    let marker = try #require(try ForcedDomainLoader(host.installation).marker())
    #expect(marker.generation == 32 && marker.serial == 32)
    #expect(try host.value("A") == .integer(32))
    #expect(try host.installer().generations().map(\.number) == (23...32).reversed().map { UInt64($0) })
    #expect(try host.installer().refresh().outcome == .unchanged)
  }

  @Test func aFullDiskIsAnErrorAndTheOldGenerationStays() async throws {
    let host = try Self.installed()
    let before = try host.contents()
    let root = host.root
    await #expect(processExitsWith: .exitCode(74)) { [root = root as String] in
      // No file may grow beyond 100 bytes: what the kernel refuses is a write, as on a full disk.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 100, rlim_max: 100)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      do throws(InstallError) {
        _ = try Installer(Installation(root: root), clock: { TestHost.now }).install(
          try! InterruptedInstallTests.second.bundle(), from: "b")
      } catch {
        _exit(error.exitCode)
      }
    }
    #expect(try host.contents() == before)
    #expect(try host.installer().install(try Self.second.bundle(), from: "b").generation == 2)
  }

  @Test(.enabled(if: ProcessIdentity.effectiveUserID == 0, "root is needed to become somebody else"))
  func anUnprivilegedUserHasAnInstallationBelowARoot() async throws {
    let host = TestHost()
    chown(host.root, 4321, 4321)
    let root = host.root
    await #expect(processExitsWith: .success) { [root = root as String] in
      precondition(setgroups(0, nil) == 0 && setgid(4321) == 0 && setuid(4321) == 0)
      let installation = Installation(root: root)
      let installer = Installer(installation, clock: { TestHost.now })
      _ = try installer.initialise(host: "lab-a-03")
      _ = try KeyFiles.generateLocal(on: installation)
      guard let key = try KeyFiles.local(on: installation) else { exit(1) }
      let report = try installer.install(try InterruptedInstallTests.first.bundle().signed(with: key), from: "b")
      precondition(report.generation == 1)
      let refreshed = try installer.refresh()
      precondition(refreshed.outcome == .unchanged)
    }
    // Root believes it as well, below the root that it was given? No: the files belong to somebody else.
    guard case .unavailable = ForcedDomainLoader(host.installation).load() else {
      Issue.record("root took another user's files for its own")
      return
    }
    await #expect(processExitsWith: .success) { [root = root as String] in
      precondition(setgroups(0, nil) == 0 && setgid(4321) == 0 && setuid(4321) == 0)
      _ = try Installer(Installation(root: root)).uninstall()
    }
    #expect(try host.contents().isEmpty)
  }
}
