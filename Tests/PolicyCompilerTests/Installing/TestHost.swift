import Digests
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import PolicyCompiler

/// An installation below a temporary folder, removed with its owner.
final class TestHost: Sendable {
  let root: String
  var installation: Installation { Installation(root: root) }

  init() {
    var template = Array("/tmp/managed-preferences-tests.XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil)
    root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? Directory.removeTree(root) }

  /// 2026-11-30T07:00:00Z, a Monday.
  static let now: Int64 = 1_796_022_000

  func installer(
    at now: Int64 = TestHost.now, users: [String: UInt32] = [:], groups: [String: UInt32] = [:],
    isServiceDown: Bool = false
  ) -> Installer {
    Installer(
      installation,
      accounts: AccountSource(
        userID: { name throws(Errno) in
          if isServiceDown { throw Errno.timedOut }
          return users[name]
        },
        groupID: { name throws(Errno) in
          if isServiceDown { throw Errno.timedOut }
          return groups[name]
        }), clock: { now })
  }

  /// Set up and enrolled as `lab-a-03`.
  func initialised() throws -> TestHost {
    _ = try installer().initialise(host: "lab-a-03")
    return self
  }

  /// Every file below the root with its contents and mode; directories end with a slash.
  func contents() throws -> [String: String] {
    var contents: [String: String] = [:]
    func walk(_ path: String) throws {
      for name in try Directory.names(in: path) {
        let child = FilePath.join(path, name)
        let metadata = try FileMetadata.of(child, followingLinks: false)
        let mode = String(metadata.permissions, radix: 8)
        if metadata.isDirectory {
          contents[child.dropFirst(root.count) + "/"] = mode
          try walk(child)
        } else {
          let bytes = metadata.isRegularFile ? try WholeFile.read(child).bytes : []
          contents[String(child.dropFirst(root.count))] = "\(mode) \(HexText.encode(SHA256.digest(of: bytes)))"
        }
      }
    }
    try walk(root)
    return contents
  }

  func loaded() throws -> ForcedDomain {
    guard case .loaded(let domain, _) = ForcedDomainLoader(installation).load() else {
      throw NotLoaded()
    }
    return domain
  }

  func value(_ key: String, user: UInt32 = 1000, groups: [UInt32] = [], at instant: Int64 = TestHost.now) throws
    -> PropertyListValue?
  {
    let domain = try loaded()
    let context = EvaluationContext(user: UserFacts(userID: user, groupIDs: groups), instant: instant)
    return domain.resolve(
      domain: Self.domain, key: key, section: .forced, under: domain.truth(in: context)
    ).value
  }

  static let domain = "org.example.Editor"

  struct NotLoaded: Error {}
}

/// What a test's bundle says.
struct TestPolicy {
  var serial: UInt64 = 1000
  var sources: UInt8 = 1
  var values: [(key: String, value: PropertyListValue, condition: Condition)] = []
  var recommended: [(key: String, value: PropertyListValue)] = []
  var userGroups: [UserGroup] = []
  var annex: [String: PropertyListValue] = [:]

  init(serial: UInt64 = 1000, sources: UInt8 = 1, _ values: [String: Int] = [:]) {
    self.serial = serial
    self.sources = sources
    self.values = values.sorted { $0.key < $1.key }.map { ($0.key, .integer(PropertyListInteger($0.value)), .always) }
  }

  func bundle() throws -> Bundle {
    var writer = ForcedDomainWriter(kind: .fleet)
    writer.setUserGroups(userGroups)
    if !annex.isEmpty { writer.setAnnex(.dictionary(annex)) }
    let profile = writer.addProfile(ProfileReference(id: "org.example.base", title: "Baseline"))
    let domain = writer.addDomain(TestHost.domain)
    let file = writer.addSourceFile("base.yaml")
    let origin = ProvenanceReference(file: file, line: 1, column: 1)
    for entry in values {
      let condition = writer.addCondition(entry.condition)
      let value = writer.addValue(entry.value)
      writer.addEntry(
        key: writer.addKey(domain: domain, key: entry.key), section: .forced, action: .replace, rank: Rank(),
        condition: condition, profile: profile, value: value, provenance: origin)
    }
    for entry in recommended {
      let value = writer.addValue(entry.value)
      writer.addEntry(
        key: writer.addKey(domain: domain, key: entry.key), section: .recommended, action: .replace, rank: Rank(),
        condition: 0, profile: profile, value: value, provenance: origin)
    }
    return Bundle(
      serial: serial, sourceDigest: [UInt8](repeating: sources, count: 32), payload: try writer.finish(FileStamp()))
  }
}

/// Makes a symbolic link.
func link(from path: String, to target: String) { precondition(symlink(target, path) == 0) }
