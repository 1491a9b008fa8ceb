import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PreferencesCore

/// Temporary files of writers that were killed.
@Suite struct LeftoverTests {
  private let fixture = Fixture()

  private func leave(_ name: String) throws -> String {
    let path = fixture.configuration + "/" + name
    try AtomicReplacement.write([1], to: path, mode: 0o600)
    var old = [timespec(tv_sec: time(nil) - 3600, tv_nsec: 0), timespec(tv_sec: time(nil) - 3600, tv_nsec: 0)]
    try #require(utimensat(AT_FDCWD, path, &old, 0) == 0)
    return path
  }

  @Test func theFirstWriteOfAProcessRemovesThem() throws {
    let list = fixture.list()
    let (own, another) = (
      try leave(".\(Fixture.domain).plist.1a2b.tmp"), try leave(".org.example.Other.plist.1a2b.tmp")
    )
    list.set(.integer(1), forKey: "k")
    #expect(list.synchronize())
    #expect(access(own, F_OK) != 0)
    #expect(access(another, F_OK) == 0)
    // Looking for them takes a listing of the folder, which not each write does.
    let later = try leave(".\(Fixture.domain).plist.3c4d.tmp")
    list.set(.integer(2), forKey: "k")
    #expect(list.synchronize())
    #expect(access(later, F_OK) == 0)
  }

  @Test func aDomainByNameRemovesThem() throws {
    let own = try leave(".\(Fixture.domain).plist.1a2b.tmp")
    try PersistentDomain(Fixture.domain, in: fixture.locations).change { $0["k"] = .integer(1) }
    #expect(access(own, F_OK) != 0)
  }
}
