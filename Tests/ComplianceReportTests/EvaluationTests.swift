import ComplianceReport
import ForcedDomain
import PropertyList
import Testing

/// What becomes of a control, by the rules above `ControlEvaluation`.
@Suite struct EvaluationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let forced: String
    let expect: String
    let result: String
    let message: String?
    var testDescription: String { id }
  }

  static let rows = [
    Row(id: "equal", forced: "k: 1", expect: "k: 1", result: "C pass", message: nil),
    Row(
      id: "another value", forced: "k: 2", expect: "k: 1", result: "C fail: k wrong-value",
      message: "it is forced to another value"),
    Row(
      id: "nothing", forced: "other: 2", expect: "k: 1", result: "C fail: k not-forced",
      message: "it has no value, and nothing forces it"),
    Row(
      id: "another type, P04", forced: "k: '[\"a\"]'", expect: "k: {is: [a]}", result: "C fail: k unusable",
      message: "it is forced but unusable: a string, where an array is expected"),
    Row(
      id: "a real for an integer", forced: "k: 1.5", expect: "k: 1", result: "C fail: k unusable",
      message: "it is forced but unusable: a real, where an integer is expected"),
    Row(id: "min and max", forced: "k: 5", expect: "k: {min: 5, max: 60}", result: "C pass", message: nil),
    Row(
      id: "above max", forced: "k: 61", expect: "k: {min: 5, max: 60}", result: "C fail: k wrong-value",
      message: "it is forced to another value"),
    Row(
      id: "text under max", forced: "k: soon", expect: "k: {max: 60}", result: "C fail: k unusable",
      message: "it is forced but unusable: a string, where a number is expected"),
    Row(
      id: "a date after another", forced: "k: !!timestamp 2026-01-02T00:00:00Z",
      expect: "k: {min: !!timestamp 2026-01-01T00:00:00Z}", result: "C pass", message: nil),
    Row(id: "one of", forced: "k: b", expect: "k: {oneOf: [a, b]}", result: "C pass", message: nil),
    Row(
      id: "none of", forced: "k: c", expect: "k: {oneOf: [a, b]}", result: "C fail: k wrong-value",
      message: "it is forced to another value"),
    Row(id: "an array contains", forced: "k: [a, b]", expect: "k: {contains: b}", result: "C pass", message: nil),
    Row(id: "a text contains", forced: "k: abc", expect: "k: {contains: bc}", result: "C pass", message: nil),
    Row(id: "a dictionary contains", forced: "k: {b: 1}", expect: "k: {contains: b}", result: "C pass", message: nil),
    Row(
      id: "a number contains nothing", forced: "k: 1", expect: "k: {contains: b}", result: "C fail: k unusable",
      message: "it is forced but unusable: an integer, where an array or a text is expected"),
    Row(
      id: "two keys, one wrong", forced: "k: 1, l: 2", expect: "k: 1, l: 1", result: "C fail: l wrong-value",
      message: "it is forced to another value"),
  ]

  @Test(arguments: rows) func eachExpectationIsHeldAgainstTheForcedValue(_ row: Row) throws {
    let text =
      Policies.profile("a", "forced: {org.example.D: {\(row.forced)}}")
      + Policies.profile("b", "controls:\n" + Policies.control("C", "org.example.D: {\(row.expect)}"))
    let controls = try Policies(text).evaluation().controls()
    #expect(Policies.results(controls) == [row.result])
    #expect(controls[0].findings.compactMap(\.message) == [row.message].compactMap { $0 })
  }

  /// F06: what counts is the result of all profiles that apply, not each profile alone.
  @Test func controlsAreJudgedOnTheCombinedResult() throws {
    let text =
      "version: 1\nkind: Manifest\ndomain: org.example.D\nkeys: {list: {type: array, items: string, merge: union}}\n---\n"
      + "version: 1\nkind: Inventory\nhosts: {groups: {lab: {names: [lab-a-03, lab-b-01]}}}\n"
      + Policies.profile("base", "forced: {org.example.D: {a: true, list: [x]}}")
      + Policies.profile(
        "group", priority: 10, applies: "applies: {hosts: {names: [lab-a-03]}}",
        "forced: {org.example.D: {b: 2, list: [y]}}")
      + Policies.profile(
        "audit", "controls:\n" + Policies.control("C", "org.example.D: {a: true, b: 2, list: {is: [y, x]}}"))
    let controls = try Policies(text).evaluation().controls()
    #expect(Policies.results(controls) == ["C pass"])
    #expect(
      controls[0].findings.map { $0.forcedBy.map(\.id) } == [
        ["org.example.base"], ["org.example.group"], ["org.example.group", "org.example.base"],
      ])
    #expect(
      Policies.results(try Policies(text, host: "lab-b-01").evaluation().controls()) == [
        "C fail: b not-forced, list wrong-value"
      ])
  }

  /// P09: forced is what takes effect here, not what stands somewhere in the policy.
  @Test func anOverrideForAnotherHostForcesNothingHere() throws {
    let text =
      Policies.profile(
        "base",
        "forced: {org.example.D: {motion: true}}\noverrides:\n"
          + "  - {hosts: {names: [lab-b-01]}, reason: why, forced: {org.example.D: {idle: 60}}}\n"
          + "controls:\n" + Policies.control("C", "org.example.D: {motion: true}")
          + Policies.control("D", "org.example.D: {idle: 60}"))
    #expect(Policies.results(try Policies(text).evaluation().controls()) == ["C pass", "D fail: idle not-forced"])
    #expect(Policies.results(try Policies(text, host: "lab-b-01").evaluation().controls()) == ["C pass", "D pass"])
  }

  @Test func aControlIsAskedWhereAndWhenItsProfileApplies() throws {
    let control = "controls:\n" + Policies.control("C", "org.example.D: {k: 1}")
    let groups = "version: 1\nkind: Inventory\nusers: {groups: {students: {names: [s1]}}}\n"
    func reason(_ applies: String, user: String? = nil, failure: String? = nil) throws -> String {
      let policies = try Policies(groups + Policies.profile("a", applies: "applies: {\(applies)}", control))
      let report = policies.evaluation(user: user).controls(unless: failure)[0]
      return report.result.rawValue + (report.reason.map { ": " + $0 } ?? "")
    }
    #expect(try reason("hosts: {names: [lab-b-01]}") == "not-applicable: its profile does not concern this host")
    #expect(try reason("users: {groups: [students]}") == "not-applicable: its profile does not concern this user")
    #expect(try reason("users: {groups: [students]}", user: "s1") == "fail")
    #expect(
      try reason("during: [{from: \"00:00\", to: \"01:00\", timezone: Etc/UTC}]")
        == "not-applicable: its profile does not hold at this time")
    #expect(try reason("during: [{from: \"11:00\", to: \"13:00\", timezone: Etc/UTC}]") == "fail")
    // Of a user who is gone nothing is known but the host.
    #expect(try reason("users: {groups: [students]}", failure: "there is no user") == "error")
    #expect(
      try reason("hosts: {names: [lab-b-01]}", failure: "there is no user")
        == "not-applicable: its profile does not concern this host")
  }

  /// F02: an exempted control counts neither way, whether or not it would pass; an expired exemption counts no more.
  @Test func anExemptionHoldsUntilItExpires() throws {
    let text = Policies.profile(
      "a",
      "forced: {org.example.D: {k: 1}}\ncontrols:\n" + Policies.control("C", "org.example.D: {k: 1}")
        + Policies.control("D", "org.example.D: {l: 1}")
        + "exemptions:\n  - {control: D, reason: why, owner: me, expires: 2025-12-01T13:00:00Z}\n"
        + "  - {control: C, reason: old, owner: you, expires: 2025-11-01T00:00:00Z}\n")
    let policies = try Policies(text)
    let evaluation = policies.evaluation()
    let controls = evaluation.controls()
    #expect(Policies.results(controls) == ["C pass", "D exempt: l not-forced"])
    #expect(ResultCounts(controls.map(\.result)).percentage == 100)
    let idle = evaluation.idleExemptions()
    #expect(
      idle.map { "\($0.control) \($0.why) \($0.owner) \($0.expires.rfc3339)" } == ["C expired you 2025-11-01T00:00:00Z"]
    )
    let last = policies.evaluation(at: Policies.now + 3599).controls()
    #expect(Policies.results(last) == ["C pass", "D exempt: l not-forced"])
    let after = policies.evaluation(at: Policies.now + 3600).controls()
    #expect(Policies.results(after) == ["C pass", "D fail: l not-forced"])
  }

  /// The control that would pass is exempt all the same; its key is released.
  @Test func anExemptionOfAControlThatWouldPassStillCounts() throws {
    let text = Policies.profile(
      "a",
      "forced: {org.example.D: {k: 1}}\ncontrols:\n" + Policies.control("C", "org.example.D: {k: 1}")
        + "exemptions:\n  - {control: C, reason: why, owner: me, expires: 2026-12-01T13:00:00Z}\n")
    let controls = try Policies(text).evaluation().controls()
    #expect(Policies.results(controls) == ["C exempt: k not-forced"])
    #expect(ResultCounts(controls.map(\.result)).percentage == nil)
  }

  @Test func whatCantBeReadIsAnErrorNeverAPass() throws {
    let text = Policies.profile(
      "a", "forced: {org.example.D: {k: 1}}\ncontrols:\n" + Policies.control("C", "org.example.D: {k: 1}"))
    let controls = try Policies(text).evaluation(isLocked: true).controls()
    #expect(Policies.results(controls) == ["C error: k unreadable"])
    #expect(controls[0].findings[0].message == "the forced domain can't be read")
  }

  @Test func whatNSGlobalDomainForcesBindsEveryDomain() throws {
    let text = Policies.profile(
      "a", "forced: {NSGlobalDomain: {k: 1}}\ncontrols:\n" + Policies.control("C", "org.example.D: {k: 1}"))
    let controls = try Policies(text).evaluation().controls()
    #expect(Policies.results(controls) == ["C pass"])
    #expect(controls[0].findings[0].foundIn == "NSGlobalDomain")
  }
}
