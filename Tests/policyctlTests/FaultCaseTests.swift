import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Faults that products of this kind have had, played through the built command; each function names its cases.
/// Those of the language alone are folders in `Tests/PolicyLanguageTests/Cases`.
@Suite struct FaultCaseTests {
  static func profile(_ id: String, priority: Int = 0, applies: String = "", _ body: String) -> String {
    "version: 1\nkind: Profile\nid: org.example.\(id)\ntitle: \(id)\npriority: \(priority)\n\(applies)\(body)"
  }

  private func installed(_ sources: [String: String], host: String = "pc1") throws -> Sandbox {
    let sandbox = try Sandbox()
    for (name, text) in sources { try sandbox.write(text, to: "policies/" + name) }
    try #require(sandbox.run("init", "--host", host).exitCode == 0)
    let applied = sandbox.run("apply", "policies")
    try #require(applied.exitCode == 0, "\(applied.errors)")
    return sandbox
  }

  private func value(_ sandbox: Sandbox, _ key: String, _ flags: [String] = []) throws -> JSON {
    let words = ["--root", sandbox.root, "get", "org.lab.term", key, "--format", "json"] + flags
    return try JSON(sandbox.runBare(words).output)["values"][key]
  }

  /// P02, P01: a typing error, or a null, leaves what is in force as it was: same files, same inode.
  @Test(arguments: ["forced:\n  org.lab.term:\n    idle 60\n", "forced:\n  org.lab.term:\n    idle:\n"])
  func aMistakeLeavesThePolicyInForce(_ mistake: String) throws {
    let sandbox = try installed(["a.yaml": Self.profile("a", "forced: {org.lab.term: {lock: true}}\n")])
    let forced = sandbox.root + "/var/lib/managed-preferences/forced"
    let before = try FileMetadata.of(forced)
    try sandbox.write(Self.profile("a", mistake), to: "policies/a.yaml")
    let refused = sandbox.run("apply", "policies")
    #expect(refused.exitCode == 65)
    #expect(refused.errors.contains("policies/a.yaml:8:"))
    #expect(try FileMetadata.of(forced).isSameVersion(as: before))
    #expect(try value(sandbox, "lock")["forced"].text == "true")
  }

  /// P08, H01: a clash is the same error whatever files, ids and groups are called, and names both places.
  @Test func namesAndOrderNeverDecideAClash() throws {
    let inventory = { (group: String) in
      "version: 1\nkind: Inventory\nhosts: {groups: {lab_b: {names: [pc1]}, \(group): {names: [pc1]}}}\n"
    }
    let lab = "applies: {hosts: {groups: [lab_b]}}\n"
    for (round, group) in ["zone_a", "area_a", "zzz", "aaa"].enumerated() {
      let sandbox = try Sandbox()
      let zone = "applies: {hosts: {groups: [\(group)]}}\n"
      let names = round % 2 == 0 ? ["1.yaml", "2.yaml"] : ["2.yaml", "1.yaml"]
      try sandbox.write(inventory(group), to: "policies/inventory.yaml")
      try sandbox.write(
        Self.profile("one", applies: lab, "forced: {org.lab.term: {idle: 60}}\n"), to: "policies/" + names[0])
      try sandbox.write(
        Self.profile("two", applies: zone, "forced: {org.lab.term: {idle: 90, lock: true}}\n"),
        to: "policies/" + names[1])
      let result = sandbox.run("check", "policies")
      #expect(result.exitCode == 65)
      #expect(result.errors.contains("policies/1.yaml:7:") && result.errors.contains("policies/2.yaml:7:"))
      #expect(result.errors.contains("idle is forced to different values at the same rank [conflict]"))
      #expect(result.errors.contains("1 error."))
    }
  }

  /// P12: lists from two files unite where the manifest says so, and are an error where it does not.
  @Test func listsUniteOnlyWhereTheManifestSaysSo() throws {
    let site = Self.profile("site", "forced: {org.lab.term: {extensions: [a, b]}}\n")
    let sso = Self.profile("sso", "forced: {org.lab.term: {extensions: [sso]}}\n")
    let manifest =
      "version: 1\nkind: Manifest\ndomain: org.lab.term\n"
      + "keys: {extensions: {type: array, items: string, merge: union}}\n"
    let united = try installed(["10-site.yaml": site, "50-sso.yaml": sso, "manifest.yaml": manifest])
    #expect(try value(united, "extensions")["value"].elements.map(\.text).sorted() == ["a", "b", "sso"])
    let explained = united.run("explain", "org.lab.term", "extensions").output
    #expect(explained.contains("10-site.yaml") && explained.contains("50-sso.yaml"))
    let swapped = try installed(["50-site.yaml": site, "10-sso.yaml": sso, "manifest.yaml": manifest])
    #expect(try value(swapped, "extensions").canonicalValue == value(united, "extensions").canonicalValue)
    let sandbox = try Sandbox()
    try sandbox.write(site, to: "policies/10-site.yaml")
    try sandbox.write(sso, to: "policies/50-sso.yaml")
    #expect(sandbox.run("check", "policies").exitCode == 65)
  }

  /// P09: forced means that the value is the policy's: also when it equals the user's, never for another host's entry.
  @Test func forcedIsWhatTakesEffect() throws {
    let sandbox = try installed([
      "a.yaml": Self.profile(
        "a",
        """
        forced: {org.lab.term: {motion: true}}
        overrides:
          - {hosts: {names: [pc2]}, reason: test, forced: {org.lab.term: {idle: 5}}}

        """)
    ])
    try sandbox.write(
      "{ motion = 1; idle = 77; }", to: sandbox.home + "/.config/org.lab.term.plist")
    #expect(try value(sandbox, "motion")["forced"].text == "true")
    #expect(try value(sandbox, "idle")["forced"].text == "false")
    #expect(try value(sandbox, "idle")["layer"].text == "application")
    #expect(try value(sandbox, "idle", ["--host", "pc2"])["forced"].text == "true")
  }

  /// H02, H04: patterns are anchored, `?` is one character, case does not matter, other signs are letters.
  @Test(arguments: [
    ("kiln*", "kiln01", true), ("kiln*", "oldkiln01", false), ("kiln*", "KILN7", true), ("kiln*", "kiln", true),
    ("pc-0?", "pc-01", true), ("pc-0?", "pc-012", false), ("PC-07", "pc-07", true), ("pc-[009-013]", "pc-010", true),
    ("pc-[009-013]", "pc-10", false), ("pc-[009-013]", "pc-014", false),
  ])
  func patternsMeanHosts(_ pattern: String, _ host: String, _ matches: Bool) throws {
    let sandbox = try Sandbox()
    try sandbox.write(
      Self.profile("a", applies: "applies: {hosts: {names: [\"\(pattern)\"]}}\n", "forced: {org.lab.term: {k: 1}}\n"),
      to: "policies/a.yaml")
    let result = sandbox.run("get", "org.lab.term", "k", "--policies", "policies", "--host", host)
    #expect(result.exitCode == (matches ? 0 : 1), "\(result.errors)")
  }

  /// F07: any of several groups is enough, `except` always subtracts, and a group that is gone is an error.
  @Test func groupsMeanTheSameEverywhere() throws {
    let inventory =
      "version: 1\nkind: Inventory\nunknownHosts: allow\nhosts: {groups: {g1: {names: [a, b]}, g2: {names: [b, c]}, g3: {names: [c]}}}\n"
    let profile = Self.profile(
      "a", applies: "applies: {hosts: {groups: [g1, g2], except: {groups: [g3]}}}\n",
      "forced: {org.lab.term: {k: 1}}\n")
    let sandbox = try Sandbox()
    try sandbox.write(inventory, to: "policies/inventory.yaml")
    try sandbox.write(profile, to: "policies/a.yaml")
    for (host, exitCode) in [("a", 0), ("b", 0), ("c", 1), ("d", 1)] as [(String, Int32)] {
      #expect(
        sandbox.run("get", "org.lab.term", "k", "--policies", "policies", "--host", host).exitCode == exitCode,
        "host \(host)")
    }
    try sandbox.write(inventory.replacing("g1: {names: [a, b]}, ", with: ""), to: "policies/inventory.yaml")
    let gone = sandbox.run("check", "policies")
    #expect(gone.exitCode == 65 && gone.errors.contains("g1"), "\(gone.errors)")
  }

  /// F09: an older bundle, or another of the same serial, is refused, whatever the clock says.
  @Test func aBundleThatWasPutBackIsRefused() throws {
    let sandbox = try installed(["a.yaml": Self.profile("a", "forced: {org.lab.term: {k: 2}}\n")])
    sandbox.run("compile", "policies", "-o", "new", "--serial", "1900000000007")
    #expect(sandbox.run("install", "new").exitCode == 0)
    try sandbox.write(Self.profile("a", "forced: {org.lab.term: {k: 1}}\n"), to: "policies/a.yaml")
    for serial in ["1900000000005", "1900000000007"] {
      sandbox.run("compile", "policies", "-o", "old", "--serial", serial)
      let refused = sandbox.run("install", "old")
      #expect(refused.exitCode == 77, "\(refused.output)\(refused.errors)")
      #expect(refused.errors.contains(serial))
      #expect(try value(sandbox, "k")["value"].text == "2")
    }
  }

  /// L01: what is not forced follows the search list of each user; what is forced is the same for all, without a home too.
  @Test func forcedIsTheSameForEveryUser() throws {
    let sandbox = try installed([
      "a.yaml": Self.profile("a", "forced: {org.lab.term: {updates: true}}\n")
    ])
    try sandbox.write("{ updates = 0; other = 1; }", to: sandbox.home + "/.config/org.lab.term.plist")
    let words = ["--root", sandbox.root, "get", "org.lab.term"]
    for home in [sandbox.home, "/nonexistent"] {
      #expect(sandbox.runBare(words + ["updates"], environment: ["HOME": home]).output == "true\n")
    }
    #expect(sandbox.runBare(words + ["other"]).exitCode == 0)
    #expect(sandbox.runBare(words + ["other"], environment: ["HOME": "/nonexistent"]).exitCode == 1)
  }

  /// R01, R03, R04: a forced domain that was cut, emptied, overwritten or removed: the last good generation answers, or,
  /// without one, everything is locked; never a crash, never "not forced".
  @Test(arguments: [
    "empty", "7 bytes", "half", "zeros at the end", "one bit", "another's", "group-writable", "removed",
  ])
  func aDamagedForcedDomainNeverOpensUp(_ damage: String) throws {
    let sandbox = try installed(["a.yaml": Self.profile("a", "forced: {org.lab.term: {lock: true}}\n")])
    let state = sandbox.root + "/var/lib/managed-preferences"
    func harm(_ file: String) throws {
      var bytes = try WholeFile.read(file).bytes
      switch damage {
      case "empty": bytes = []
      case "7 bytes": bytes = Array(bytes.prefix(7))
      case "half": bytes = Array(bytes.prefix(bytes.count / 2))
      case "zeros at the end": bytes.replaceSubrange((bytes.count - 64)..., with: repeatElement(0, count: 64))
      case "one bit": bytes[bytes.count - 20] ^= 4
      default: break
      }
      try AtomicReplacement.write(bytes, to: file, mode: damage == "group-writable" ? 0o664 : 0o644)
      if damage == "another's" { chown(file, 1001, 1001) }
      if damage == "removed" { try Directory.removeFile(file) }
    }
    try harm(state + "/forced")
    let answer = sandbox.run("get", "org.lab.term", "lock")
    if damage == "another's" && geteuid() != 0 { return }
    #expect(answer.output == "true\n")
    #expect(answer.errors.contains("warning: ") && answer.errors.contains("/forced: "), "\(answer.errors)")
    for number in try Directory.names(in: state + "/generations") {
      try harm(state + "/generations/\(number)/forced")
    }
    let locked = sandbox.run("get", "org.lab.term", "lock")
    #expect(locked.exitCode == 69)
    #expect(locked.errors.contains("every key counts as forced"), "\(locked.errors)")
  }
}

extension JSON {
  fileprivate var canonicalValue: String { self["value"].canonical }
}
