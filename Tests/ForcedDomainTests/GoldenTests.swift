import ForcedDomain
import LinuxFiles
import PropertyList
import Testing

/// Files as an earlier build wrote them. When one of these tests fails, the format has changed: old files out there have
/// to stay readable, or the version has to go up. `RECORD_FIXTURES=1` writes them anew, on purpose only.
@Suite("Golden files")
struct GoldenTests {
  static let folder = FilePath.join(FilePath.parent(of: #filePath), "Fixtures")

  static func fleet() throws(ForcedDomainError) -> [UInt8] {
    var writer = ForcedDomainWriter(kind: .fleet)
    writer.setHostGroups([HostGroup(name: "lab-a", patterns: ["lab-a-[01-30]"])])
    writer.setUserGroups([UserGroup(name: "students", names: ["s1"], unixGroups: ["students"])])
    let profile = writer.addProfile(ProfileReference(id: "org.example.exam", title: "Exam mode", owner: "lab-admins"))
    let condition = writer.addCondition(
      Condition(
        hosts: HostSelector(include: [.group("lab-a"), .pattern("lab-d-*")], exclude: [.pattern("lab-a-17")]),
        users: UserSelector(include: [.group("students"), .people], exclude: [.name("miller")]),
        windows: [Sample.window], notAfter: 1_798_000_000))
    let provenance = ProvenanceReference(
      file: writer.addSourceFile("exam.yaml"), line: 9, column: 3, reason: writer.addText("projector machine"),
      owner: writer.addText("lab-admins"), ticket: writer.addText("LAB-142"))
    let value = writer.addValue(.dictionary(["a": .array([.real(0.5)])]))
    writer.addEntry(
      key: writer.addKey(domain: writer.addDomain("org.example.Editor"), key: "Plugins"), section: .forced,
      action: .union,
      rank: Rank(priority: 100, isOverride: true, hostClass: .pattern, userClass: .group), condition: condition,
      profile: profile, value: value, provenance: provenance)
    return try writer.finish(FileStamp())
  }

  @Test(arguments: ["empty", "forced", "fleet"])
  func unchanged(_ name: String) throws {
    let made =
      switch name {
      case "empty": try ForcedDomainWriter(kind: .forced).finish(FileStamp(hostName: "lab-a-03"))
      case "forced": try Sample.forced()
      default: try Self.fleet()
      }
    let path = FilePath.join(Self.folder, name + ".domain")
    if EnvironmentVariables.value("RECORD_FIXTURES") == "1" {
      try FileDescriptor.open(path, [.writeOnly, .create, .truncate], mode: 0o644).write(made)
    }
    let (golden, _) = try WholeFile.read(path)
    #expect(made == golden, "the writer writes \(name) differently")
    let old = try ForcedDomain(bytes: golden, expecting: .all)
    let new = try ForcedDomain(bytes: made, expecting: .all)
    #expect(exercise(old) == exercise(new))
  }

  @Test(
    arguments: [
      // wyhash final 4.2, as its author's test vectors have them.
      ("", 0, 0x9322_8a4d_e0ee_c5a2), ("a", 1, 0xc5ba_c3db_1787_13c4), ("abc", 2, 0xa97f_2f7b_1d9b_3314),
      ("message digest", 3, 0x786d_1f1d_f380_1df4), ("abcdefghijklmnopqrstuvwxyz", 4, 0xdca5_a813_8ad3_7c87),
      ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 5, 0xb9e7_34f1_17cf_af70),
      (String(repeating: "1234567890", count: 8), 6, 0x6cc5_eab4_9a92_d617),
    ] as [(String, UInt64, UInt64)])
  func hash(text: String, seed: UInt64, expected: UInt64) {
    #expect(Array(text.utf8).withUnsafeBytes { ByteHash.hash($0, seed: seed) } == expected)
  }
}
