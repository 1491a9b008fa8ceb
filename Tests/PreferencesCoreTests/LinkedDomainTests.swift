import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

/// Domains that share a file through symbolic links share its lock.
@Suite(.disabled(if: Fixture.isContained, "in a container no link is followed")) struct LinkedDomainTests {
  private static let other = "org.example.Other"

  /// Whether a writer of `domain` finds its lock taken.
  private func isHeldUp(_ domain: PersistentDomain) -> Bool {
    do { try domain.change(lockTimeout: 0) { $0["held"] = 1 } } catch {
      return (error as? PreferencesFault)?.kind == .busy
    }
    return false
  }

  private func lock(of name: String, _ fixture: Fixture) throws -> FileLock {
    let locks = fixture.configuration + "/managed-preferences/locks"
    try Directory.createAll(FilePath.parent(of: locks + "/" + name), mode: 0o700)
    return try FileLock.exclusive(locks + "/" + name)
  }

  @Test(arguments: [
    (PersistentDomain.Host.any, Fixture.domain, "\(Fixture.domain).lock"),
    (.any, GlobalDomain.name, "NSGlobalDomain.lock"),
    (.current, Fixture.domain, "ByHost/\(Fixture.domain).\(Fixture.host).lock"),
    (.current, GlobalDomain.name, "ByHost/NSGlobalDomain.\(Fixture.host).lock"),
  ])
  func aLinkToAnotherDomainTakesThatDomainsLock(
    host: PersistentDomain.Host, domain: String, lockFile: String
  ) throws {
    let fixture = Fixture()
    fixture.store(["a": 1], domain, host: host)
    let target = fixture.file(domain, host: host)
    try Directory.createAll(fixture.configuration + "/ByHost")
    for linkHost in [PersistentDomain.Host.any, .current] {
      let link = try PersistentDomain(Self.other, host: linkHost, in: fixture.locations)
      #expect(symlink(target, link.path) == 0)
      do {
        let held = try lock(of: lockFile, fixture)
        defer { extendLifetime(held) }
        #expect(isHeldUp(link))
      }
      try link.change { $0["\(linkHost)"] = 2 }
    }
    #expect(try PersistentDomain(domain, host: host, in: fixture.locations).read() == ["a": 1, "any": 2, "current": 2])
  }

  @Test func linksToOneFileElsewhereLockItsDirectory() throws {
    let fixture = Fixture()
    let folder = fixture.directory + "/dotfiles"
    try Directory.create(folder)
    try AtomicReplacement.write(Array("{a = 1;}".utf8), to: folder + "/kept.plist", mode: 0o600)
    let domains = try [Fixture.domain, Self.other].map { try PersistentDomain($0, in: fixture.locations) }
    for domain in domains { #expect(symlink(folder + "/kept.plist", domain.path) == 0) }
    let outside = fixture.directory + "/elsewhere"
    try Directory.create(outside)
    #expect(symlink(folder + "/kept.plist", outside + "/link.plist") == 0)
    let byPath = [folder + "/kept", outside + "/link"].map { PersistentDomain(path: $0, in: fixture.locations) }
    for domain in domains + byPath {
      do {
        let held = try FileLock.exclusive(directory: folder)
        defer { extendLifetime(held) }
        #expect(isHeldUp(domain), "\(domain.path)")
      }
      try domain.change { $0[domain.path] = 1 }
    }
    #expect(try byPath[0].read()?.count == 5)
  }

  @Test func aLinkThatLeadsNowhereIsReplacedUnderItsOwnLock() throws {
    let fixture = Fixture()
    #expect(symlink("missing.plist", fixture.file()) == 0)
    let domain = try PersistentDomain(Fixture.domain, in: fixture.locations)
    do {
      let held = try lock(of: "\(Fixture.domain).lock", fixture)
      defer { extendLifetime(held) }
      #expect(isHeldUp(domain))
    }
    try domain.change { $0["k"] = 1 }
    #expect(try domain.read() == ["k": 1])
    #expect(SymbolicLink.target(of: fixture.file()) == nil)
  }

  /// What writers of two domains change at the same time in their one file is all kept.
  @Test func writersThroughALinkLoseNothing() throws {
    let fixture = Fixture()
    fixture.store([:])
    #expect(symlink(fixture.file(), fixture.file(Self.other)) == 0)
    let domains = try [Fixture.domain, Self.other].map { try PersistentDomain($0, in: fixture.locations) }
    let count = 60
    withThreads(domains.count) { thread in
      for number in 0..<count { try? domains[thread].change(lockTimeout: 120) { $0["\(thread) \(number)"] = 1 } }
    }
    #expect(try domains[0].read()?.count == 2 * count)
  }
}
