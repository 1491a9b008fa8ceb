import HostPatterns

/// `kind: Tests`.
extension DocumentDecoder {
  mutating func decodeTests() {
    guard let fields = fields(of: tree.root, as: PolicySchema.tests, named: "a Tests document") else { return }
    for node in elements(fields["cases"], of: "cases") {
      if let testCase = testCase(node) { tests.append(testCase) }
    }
  }

  private mutating func testCase(_ node: NodeID) -> PolicyTestCase? {
    guard let fields = fields(of: node, as: PolicySchema.testCase, named: "a test case") else { return nil }
    let name = text(fields["name"])
    let given = given(fields["given"])
    var expectations: [PolicyTestCase.Expectation] = []
    if let entry = fields["expect"],
      let inner = self.fields(of: entry.value, as: PolicySchema.expected, named: entry.name)
    {
      if tree.count(of: entry.value) == 0 {
        sink.report(.emptySection, at: tree.position(entry.value), "the case expects nothing")
      }
      expectations += values(.forced, settings(inner["forced"]))
      for release in keyLists(inner["notForced"]) {
        for key in release.keys {
          expectations.append(
            .init(kind: .notForced, domain: release.domain, key: key, value: nil, position: key.position, operand: nil))
        }
      }
      expectations += values(.value, settings(inner["value"]))
    }
    guard let name else { return nil }
    return PolicyTestCase(
      source: source, position: tree.position(node), name: name, given: given, expectations: expectations, tree: tree)
  }

  private func values(
    _ kind: PolicyTestCase.Expectation.Kind, _ domains: [DomainSettings]
  ) -> [PolicyTestCase.Expectation] {
    domains.flatMap { domain in
      domain.settings.filter { !tree.isFaulty($0.value) }.map { setting in
        .init(
          kind: kind, domain: domain.domain, key: located(setting.key), value: tree.value(setting.value),
          position: tree.position(setting.value), operand: setting.value)
      }
    }
  }

  private mutating func hostName(_ entry: Entry?) -> Located<String>? {
    guard let name = text(entry), checkPattern(name) else { return nil }
    if (try? HostPattern(parsing: name.value))?.kind == .literal { return name }
    sink.report(.invalidHostPattern, at: name.position, "'\(name.value.shown)': a case is about one host")
    return nil
  }

  private mutating func given(_ entry: Entry?) -> PolicyTestCase.Given {
    guard let entry, let fields = fields(of: entry.value, as: PolicySchema.given, named: entry.name) else {
      return .init(host: nil, user: nil, groups: [], at: nil, app: nil)
    }
    let app = text(fields["app"])
    if let app { _ = checkDomain(app) }
    return .init(
      host: hostName(fields["host"]), user: text(fields["user"]), groups: texts(fields["groups"]),
      at: instant(fields["at"]), app: app)
  }
}
