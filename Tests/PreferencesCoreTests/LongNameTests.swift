import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

/// Names as long as they may be, and as they may not.
@Suite struct LongNameTests {
  static let longest = String(repeating: "x", count: DomainName.maximumBytes)

  @Test(arguments: [PersistentDomain.User.current, .any], [PersistentDomain.Host.any, .current])
  func theLongestNameHasAllItsFiles(user: PersistentDomain.User, host: PersistentDomain.Host) throws {
    let fixture = Fixture()
    let domain = try PersistentDomain(Self.longest, user: user, host: host, in: fixture.locations)
    try domain.change { $0["k"] = 1 }
    #expect(try domain.read() == ["k": 1])
    #expect(try PersistentDomain.names(in: fixture.locations, user: user, host: host) == [Self.longest])
  }

  @Test func aSearchListOfTheLongestNameWrites() {
    let fixture = Fixture()
    let list = fixture.list(Self.longest)
    #expect(list.set(1, forKey: "k"))
    #expect(list.synchronize())
    #expect(fixture.stored(Self.longest) == ["k": 1])
  }

  @Test(arguments: [PersistentDomain.Host.any, .current])
  func aDamagedFileOfTheLongestNameIsMovedAside(host: PersistentDomain.Host) throws {
    let fixture = Fixture()
    let domain = try PersistentDomain(Self.longest, host: host, in: fixture.locations)
    try Directory.createAll(FilePath.parent(of: domain.path))
    try AtomicReplacement.write(Array("damaged".utf8), to: domain.path, mode: 0o600)
    try domain.change { $0["k"] = 1 }
    #expect(try domain.read() == ["k": 1])
    let names = try Directory.names(in: FilePath.parent(of: domain.path)).filter { $0.contains(".damaged-") }
    #expect(names.count == 1)
    #expect(names.allSatisfy { $0.hasPrefix(Self.longest) && $0.utf8.count <= 255 })
  }

  @Test func aHostThatMakesTheFilesNameTooLongIsRefused() throws {
    let fixture = Fixture()
    let host = String(repeating: "h", count: 33)
    let error = #expect(throws: DomainNameFault.self) {
      try PersistentDomain(Self.longest, host: .named(host), in: fixture.locations)
    }
    #expect(
      error?.description
        == "the name of a file can't be longer than 255 bytes; that of this domain for this host has 256")
    let fits = try PersistentDomain(String(Self.longest.dropLast()), host: .named(host), in: fixture.locations)
    try fits.change { $0["k"] = 1 }
    #expect(try fits.read() == ["k": 1])
  }

  @Test func anExecutablesLongNameIsCut() {
    let path = "/opt/" + String(repeating: "é", count: 127)
    #expect(ApplicationIdentity.domain(forExecutable: path) == String(repeating: "é", count: 108))
  }
}
