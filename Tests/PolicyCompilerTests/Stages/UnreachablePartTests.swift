import PolicyCompiler
import PolicyLanguage
import Testing

/// Overrides and exemptions that their own profile shuts out.
@Suite struct UnreachablePartTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let applies: String
    let part: String
    let isReported: Bool

    init(_ id: String, _ applies: String, _ part: String, _ isReported: Bool) {
      (testDescription, self.applies, self.part, self.isReported) = (id, applies, part, isReported)
    }
  }

  static func window(_ days: String, _ from: String, _ to: String, _ between: String = "") -> String {
    "{days: [\(days)], from: \"\(from)\", to: \"\(to)\", timezone: Europe/Berlin\(between)}"
  }

  @Test(arguments: [
    Row("a host outside", "hosts: {groups: [lab-a]}", "hosts: {names: [lab-b-07]}", true),
    Row("a host inside", "hosts: {groups: [lab-a]}", "hosts: {names: [lab-a-07]}", false),
    Row("a group that meets", "hosts: {groups: [lab-a]}", "hosts: {groups: [projectors]}", false),
    Row("a host that the profile excepts", "hosts: {except: {names: [lab-a-07]}}", "hosts: {names: [lab-a-07]}", true),
    Row("a user outside", "users: {names: [ada]}", "users: {names: [grace]}", true),
    Row("a user who may be in the group", "users: {groups: [students]}", "users: {names: [grace]}", false),
    Row("the excepted group", "users: {except: {groups: [students]}}", "users: {groups: [students]}", true),
    Row(
      "another day", "during: [\(window("mon", "09:00", "11:00"))]", "during: [\(window("tue", "09:00", "11:00"))]",
      true),
    Row(
      "another hour", "during: [\(window("mon", "09:00", "11:00"))]", "during: [\(window("mon", "14:00", "15:00"))]",
      true),
    Row(
      "a shared hour", "during: [\(window("mon", "09:00", "11:00"))]", "during: [\(window("mon", "10:00", "15:00"))]",
      false),
    Row(
      "an end before the first day",
      "during: [\(window("mon", "09:00", "11:00", ", between: [2027-03-01, 2027-03-31]"))]",
      "expires: 2027-01-01T00:00:00Z", true),
    Row("a profile that never applies", "hosts: {names: [pc], except: {names: [pc]}}", "hosts: {names: [tv]}", false),
  ])
  func overrides(row: Row) {
    let profile = """
      version: 1
      kind: Profile
      id: org.example.p
      title: P
      applies:
        \(row.applies)
      overrides:
        - \(row.part)
          reason: r
          forced: {org.example.App: {k: 1}}

      """
    let compilation = PolicySources.compile([
      "inventory.yaml": PolicySources.inventory(unknownHosts: "allow"), "p.yaml": profile,
    ]).compilation
    let found = compilation.diagnostics.filter { $0.message.hasPrefix("the override can never hold") }
    #expect(
      found.map { "\($0.line):\($0.column) \($0.severity) \($0.code)" }
        == (row.isReported ? ["8:5 warning never-applies"] : []))
    #expect(compilation.payload != nil)
  }

  @Test func exemptions() {
    let profile = """
      version: 1
      kind: Profile
      id: org.example.p
      title: P
      applies: {hosts: {names: [pc-1]}}
      controls: [{id: C, title: C, expect: {org.example.App: {k: 1}}}]
      exemptions:
        - {control: C, hosts: {names: [pc-2]}, reason: r, owner: o, expires: 2030-01-01T00:00:00Z}
        - {control: C, hosts: {names: [pc-1]}, reason: r, owner: o, expires: 2030-01-01T00:00:00Z}

      """
    #expect(
      PolicySources.report(["p.yaml": profile]) == """
        p.yaml:8:5: warning: the exemption can never hold: its profile applies to none of its hosts, users and times [never-applies]
            8 |   - {control: C, hosts: {names: [pc-2]}, reason: r, owner: o, expires: 2030-01-01T00:00:00Z}
              |     ^
        p.yaml:5:11: note: the profile's own scope is here
        hint: correct the selection, or remove the part

        """)
  }
}
