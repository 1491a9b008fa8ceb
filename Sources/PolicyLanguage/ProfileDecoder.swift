import PropertyList

/// `kind: Profile`.
extension DocumentDecoder {
  mutating func decodeProfile() {
    guard let fields = fields(of: tree.root, as: PolicySchema.profile, named: "a profile") else {
      return
    }
    let id = text(fields["id"])
    if let id { checkIdentifier(id) }
    let title = text(fields["title"])
    let description = text(fields["description"])
    let owner = text(fields["owner"])
    let priority = integer(fields["priority"]) ?? Located(0, at: tree.position(tree.root))
    var applies = Scope()
    if let entry = fields["applies"],
      let inner = self.fields(of: entry.value, as: PolicySchema.scope, named: entry.name)
    {
      if tree.count(of: entry.value) == 0 {
        sink.report(.emptySelector, at: tree.position(entry.value), "applies selects nothing")
      }
      applies = scope(inner)
      if fields["containers"] != nil, let during = inner["during"] {
        sink.report(
          .duringWithContainers, at: tree.position(during.key),
          "a profile with containers can't depend on the time")
      }
    }
    let forced = settings(fields["forced"])
    let recommended = settings(fields["recommended"])
    let release = keyLists(fields["release"])
    let overrides = elements(fields["overrides"], of: "overrides").compactMap { override($0) }
    let controls = elements(fields["controls"], of: "controls").compactMap { control($0) }
    let exemptions = elements(fields["exemptions"], of: "exemptions").compactMap { exemption($0) }
    let containers = containers(fields["containers"])
    let roaming = roaming(fields["roaming"])
    guard let id, let title else { return }
    if ![
      "forced", "recommended", "release", "overrides", "controls", "exemptions", "containers", "roaming",
    ]
    .contains(where: { fields[$0] != nil }) {
      sink.report(.emptyProfile, at: tree.position(tree.root), "the profile \(id.value.shown) says nothing")
    }
    profiles.append(
      Profile(
        source: source, tree: tree, position: tree.position(tree.root), id: id, title: title, description: description,
        owner: owner, priority: priority, applies: applies, forced: forced, recommended: recommended, release: release,
        overrides: overrides, controls: controls, exemptions: exemptions, containers: containers,
        roaming: roaming))
  }

  private mutating func checkIdentifier(_ id: Located<String>) {
    let labels = id.value.split(separator: ".", omittingEmptySubsequences: false)
    let isFine =
      labels.count >= 2 && id.value.utf8.count <= 255
      && labels.allSatisfy { label in
        !label.isEmpty
          && label.utf8.allSatisfy {
            ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D || $0 == 0x5F
          }
      }
    if !isFine {
      sink.report(.invalidIdentifier, at: id.position, "the id '\(id.value.shown)' is not in reverse-DNS form")
    }
  }

  private mutating func override(_ node: NodeID) -> Override? {
    guard let fields = fields(of: node, as: PolicySchema.override, named: "an override") else { return nil }
    let scope = scope(fields)
    let reason = text(fields["reason"])
    let owner = text(fields["owner"])
    let ticket = text(fields["ticket"])
    let expires = instant(fields["expires"])
    let forced = settings(fields["forced"])
    let recommended = settings(fields["recommended"])
    let release = keyLists(fields["release"])
    if !["hosts", "users", "during", "expires"].contains(where: { fields[$0] != nil }) {
      sink.report(.unscopedOverride, at: tree.position(node), "the override names no hosts, users, times or end")
    }
    if !["forced", "recommended", "release"].contains(where: { fields[$0] != nil }) {
      sink.report(.missingField, at: tree.position(node), "an override needs `forced`, `recommended` or `release`")
    }
    guard let reason else { return nil }
    return Override(
      position: tree.position(node), scope: scope, reason: reason, owner: owner, ticket: ticket, expires: expires,
      forced: forced, recommended: recommended, release: release)
  }

  private mutating func exemption(_ node: NodeID) -> Exemption? {
    guard let fields = fields(of: node, as: PolicySchema.exemption, named: "an exemption") else { return nil }
    let control = text(fields["control"])
    let scope = scope(fields)
    let reason = text(fields["reason"])
    let owner = text(fields["owner"])
    let expires = instant(fields["expires"])
    guard let control, let reason, let owner, let expires else { return nil }
    return Exemption(
      position: tree.position(node), control: control, scope: scope, reason: reason, owner: owner, expires: expires)
  }

  // MARK: Roaming

  /// A synced store belongs to one application and takes short keys only; what it could never hold is a slip.
  private mutating func roaming(_ entry: Entry?) -> [DomainKeys] {
    keyLists(entry).map { part in
      if part.domain.value == Self.globalDomain {
        sink.report(
          .cannotRoam, at: part.domain.position,
          "\(part.domain.value.shown) is every application's; each application's values roam by themselves")
      }
      for key in part.keys where key.value.utf8.count > Self.longestRoamingKey {
        sink.report(
          .cannotRoam, at: key.position,
          "the key '\(key.value.shown)' has \(key.value.utf8.count) bytes; one that roams has at most \(Self.longestRoamingKey)"
        )
      }
      return part
    }
  }

  /// Bytes of UTF-8: the limit of the synced store.
  private static let longestRoamingKey = 64

  // MARK: Controls

  private mutating func control(_ node: NodeID) -> Control? {
    guard let fields = fields(of: node, as: PolicySchema.control, named: "a control") else { return nil }
    let id = text(fields["id"])
    let title = text(fields["title"])
    let references = texts(fields["references"]).map(\.value)
    let severity = choice(fields["severity"], of: Control.Severity.self) ?? .medium
    var expectations: [ControlExpectation] = []
    for (key, value) in members(fields["expect"], whenEmpty: .emptySection) {
      let domain = located(key)
      guard checkDomain(domain) else { continue }
      for (key, value) in members(Entry(name: domain.value, key: key, value: value), whenEmpty: .emptySection) {
        let conditions = conditions(of: value, key: key)
        expectations.append(
          ControlExpectation(
            domain: domain, key: located(key), conditions: conditions, position: tree.position(value)))
      }
    }
    guard let id, let title else { return nil }
    return Control(
      position: tree.position(node), id: id, title: title, references: references, severity: severity,
      expectations: expectations)
  }

  /// A value stands for `is`; a mapping is always operators (rule 12).
  private mutating func conditions(of node: NodeID, key: NodeID) -> [ControlExpectation.Condition] {
    guard tree.kind(node) == .mapping else {
      checkValue(node, key: key)
      return [condition(.is, node)]
    }
    let name = tree.string(key)
    guard let fields = fields(of: node, as: PolicySchema.operators, named: name) else { return [] }
    if tree.count(of: node) == 0 {
      sink.report(
        .emptySection, at: tree.position(node), "\(name.shown) expects nothing",
        hint: "a dictionary here is operators; to expect an empty dictionary write {is: {}}")
    }
    var conditions: [ControlExpectation.Condition] = []
    for comparison in ControlExpectation.Operator.allCases {
      guard let entry = fields[comparison.rawValue] else { continue }
      checkValue(entry.value, key: entry.key)
      switch comparison {
      case .min, .max:
        let kind = tree.kind(entry.value)
        if kind != .integer && kind != .real && kind != .date && kind != .null {
          reportType(entry.value, entry.name, expected: "integer, real or date", key: entry.key)
        }
      case .oneOf:
        if tree.kind(entry.value) != .null { _ = elements(entry, of: "values") }
      case .is, .contains: break
      }
      conditions.append(condition(comparison, entry.value))
    }
    return conditions
  }

  private func condition(
    _ comparison: ControlExpectation.Operator, _ node: NodeID
  ) -> ControlExpectation.Condition {
    ControlExpectation.Condition(comparison: comparison, operand: node, value: tree.value(node))
  }

  // MARK: Containers

  private mutating func containers(_ entry: Entry?) -> [ContainerGrant] {
    var grants: [ContainerGrant] = []
    for (key, value) in members(entry, whenEmpty: .emptySection) {
      let domain = located(key)
      let isDomain = checkDomain(domain)
      if tree.kind(value) == .null && !tree.isFaulty(value) {
        sink.report(
          .emptyField, at: nullPosition(value, key: key), "\(domain.value.shown) has no value",
          hint: "write {} for an application that shares nothing")
        continue
      }
      guard let fields = fields(of: value, as: PolicySchema.container, named: domain.value) else { continue }
      let groups = domains(fields["groups"]).filter { checkGrant($0, of: domain) }
      let read = domains(fields["read"]).filter { checkGrant($0, of: domain) }
      let files = texts(fields["files"]).filter { checkPath($0) }
      if isDomain, checkContained(domain) {
        grants.append(ContainerGrant(domain: domain, groups: groups, read: read, files: files))
      }
    }
    return grants
  }

  private mutating func checkContained(_ domain: Located<String>) -> Bool {
    if domain.value != Self.globalDomain { return true }
    sink.report(
      .uselessGrant, at: domain.position, "\(domain.value.shown) is every application's; a container is one's")
    return false
  }

  /// What would share nothing is a slip: domains are named whole, and some are in every container anyway.
  private mutating func checkGrant(_ grant: Located<String>, of domain: Located<String>) -> Bool {
    let problem: String? =
      grant.value == domain.value
      ? "is the application's own domain"
      : grant.value == Self.globalDomain
        ? "can be read in every container, and shared with none"
        : grant.value.utf8.contains(UInt8(ascii: "*")) ? "names no domain; domains are named one by one" : nil
    guard let problem else { return true }
    sink.report(.uselessGrant, at: grant.position, "\(grant.value.shown) \(problem)")
    return false
  }

  private static let globalDomain = "NSGlobalDomain"

  private mutating func domains(_ entry: Entry?) -> [Located<String>] { texts(entry).filter { checkDomain($0) } }

  // What a container may never reach: the preferences of others and the engine's own files.
  private static let preferencePaths = [
    "~/.config", "~/.local/share/managed-preferences", "~/.local/state/managed-preferences", "/etc/managed-preferences",
    "/var/lib/managed-preferences",
    "/var/log/managed-preferences",
    // Homes, where their usual places are; `run` looks at the user's own.
    "/home/*/.config", "/home/*/.local/share/managed-preferences", "/home/*/.local/state/managed-preferences",
    "/root/.config",
    "/root/.local/share/managed-preferences",
  ]
  // What belongs to the kernel and to sessions.
  private static let systemPaths = ["/proc", "/sys", "/dev", "/run"]

  private mutating func checkPath(_ path: Located<String>) -> Bool {
    func refuse(_ why: String) -> Bool {
      sink.report(.forbiddenPath, at: path.position, "the path '\(path.value.shown)' \(why)")
      return false
    }
    guard path.value == "~" || path.value.hasPrefix("~/") || path.value.hasPrefix("/") else {
      return refuse("neither begins with '/' nor with '~/'")
    }
    let parts = path.value.split(separator: "/")
    if parts.contains("..") || parts.contains(".") { return refuse("contains '.' or '..'") }
    if path.value.utf8.contains(0) { return refuse("contains a NUL") }
    for forbidden in Self.systemPaths where parts.first == forbidden.dropFirst() {
      return refuse("lies in \(forbidden), which belongs to the system")
    }
    for forbidden in Self.preferencePaths where forbidden.hasPrefix("/") == path.value.hasPrefix("/") {
      let other = forbidden.split(separator: "/")
      if zip(parts, other).allSatisfy({ $0 == $1 || $1 == "*" }) {
        return refuse("\(parts.count < other.count ? "contains" : "lies in") \(forbidden), where preferences are kept")
      }
    }
    return true
  }
}
