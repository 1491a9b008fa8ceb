import ForcedDomain
import PolicyLanguage
import PropertyList

/// What a payload carries beside its entries, for readers other than the resolver: one dictionary.
///
/// | member | contents |
/// |---|---|
/// | `unknownHosts` | `refuse` or `allow`: what install does on a host that no group of `inventory` lists |
/// | `inventory` | `hosts`: group → `names`, `groups`; `users`: group → `names`, `unixGroups`, `groups`; as written |
/// | `containers` | list of `domain`, `groups`, `read`, `files`, `profile`, `condition` |
/// | `roaming` | list of `domain`, `keys`, `profile`, `condition` |
/// | `controls` | list of `id`, `title`, `references`, `severity`, `expect`, `profile`, `condition`, `file`, `line`, `column` |
/// | `exemptions` | list of `control`, `reason`, `owner`, `expires`, `profile`, `condition`, `file`, `line`, `column` |
/// | `secrets` | domain → keys that are never printed, logged or reported |
///
/// `condition` is a number in the file's own table of conditions; `expect` is a list of `domain`, `key`, `file`, `line`,
/// `column` and the operators (`is`, `min`, `max`, `oneOf`, `contains`) with their values. A member without contents is
/// left out. A narrowed file that everyone may read has `containers`, `roaming` and `secrets` only.
enum Annex {
  static func encode(_ compiler: inout CompilerState) -> PropertyListValue {
    var annex: [String: PropertyListValue] = [:]
    if let inventory = compiler.tree.inventory {
      annex["unknownHosts"] = .string(inventory.unknownHosts == .refuse ? "refuse" : "allow")
      annex["inventory"] = .dictionary(encode(inventory))
    }
    var lists: [String: [PropertyListValue]] = [:]
    for profile in compiler.tree.profiles { encode(profile, into: &lists, &compiler) }
    for (name, list) in lists where !list.isEmpty { annex[name] = .array(list) }
    var secrets: [String: PropertyListValue] = [:]
    for manifest in compiler.tree.manifests {
      let keys = manifest.keys.filter(\.isSecret).map(\.name.value).sorted()
      if !keys.isEmpty { secrets[manifest.domain.value] = strings(keys) }
    }
    if !secrets.isEmpty { annex["secrets"] = .dictionary(secrets) }
    return .dictionary(annex)
  }

  private static func encode(_ inventory: Inventory) -> [String: PropertyListValue] {
    var hosts: [String: PropertyListValue] = [:]
    for group in inventory.hostGroups {
      hosts[group.name.value] = members(["names": group.names, "groups": group.groups])
    }
    var users: [String: PropertyListValue] = [:]
    for group in inventory.userGroups {
      users[group.name.value] = members([
        "names": group.names, "unixGroups": group.unixGroups, "groups": group.groups,
      ])
    }
    var result: [String: PropertyListValue] = [:]
    if !hosts.isEmpty { result["hosts"] = .dictionary(hosts) }
    if !users.isEmpty { result["users"] = .dictionary(users) }
    return result
  }

  private static func members(_ lists: [String: [Located<String>]]) -> PropertyListValue {
    .dictionary(lists.filter { !$0.value.isEmpty }.mapValues { strings($0.map(\.value)) })
  }

  private static func encode(
    _ profile: Profile, into lists: inout [String: [PropertyListValue]], _ compiler: inout CompilerState
  ) {
    guard
      !(profile.containers.isEmpty && profile.roaming.isEmpty && profile.controls.isEmpty && profile.exemptions.isEmpty)
    else { return }
    let condition = number(compiler.addCondition(compiler.scopes.condition(of: profile.applies)))
    let id = PropertyListValue.string(profile.id.value)
    for grant in profile.containers {
      lists["containers", default: []].append(
        .dictionary([
          "domain": .string(grant.domain.value), "groups": strings(grant.groups.map(\.value)),
          "read": strings(grant.read.map(\.value)), "files": strings(grant.files.map(\.value)), "profile": id,
          "condition": condition,
        ]))
    }
    for part in profile.roaming {
      lists["roaming", default: []].append(
        .dictionary([
          "domain": .string(part.domain.value), "keys": strings(part.keys.map(\.value)), "profile": id,
          "condition": condition,
        ]))
    }
    let file = compiler.tree.sources[profile.source].relativePath
    for control in profile.controls {
      var entry = place(control.position, in: file)
      entry["profile"] = id
      entry["condition"] = condition
      entry["id"] = .string(control.id.value)
      entry["title"] = .string(control.title.value)
      entry["references"] = strings(control.references)
      entry["severity"] = .string(control.severity.rawValue)
      entry["expect"] = .array(control.expectations.map { .dictionary(encode($0, in: file)) })
      lists["controls", default: []].append(.dictionary(entry))
    }
    for exemption in profile.exemptions {
      let scope = compiler.scopes.condition(
        of: exemption.scope, inside: profile.applies,
        notAfter: exemption.expires.value.firstUnixSecondNotBefore)
      var entry = place(exemption.position, in: file)
      entry["profile"] = id
      entry["condition"] = number(compiler.addCondition(scope))
      entry["control"] = .string(exemption.control.value)
      entry["reason"] = .string(exemption.reason.value)
      entry["owner"] = .string(exemption.owner.value)
      entry["expires"] = .date(exemption.expires.value)
      lists["exemptions", default: []].append(.dictionary(entry))
    }
  }

  private static func encode(_ expectation: ControlExpectation, in file: String) -> [String: PropertyListValue] {
    var entry = place(expectation.position, in: file)
    entry["domain"] = .string(expectation.domain.value)
    entry["key"] = .string(expectation.key.value)
    for condition in expectation.conditions { entry[condition.comparison.rawValue] = condition.value }
    return entry
  }

  private static func place(_ position: SourcePosition, in file: String) -> [String: PropertyListValue] {
    [
      "file": .string(file), "line": .integer(PropertyListInteger(Int(position.line))),
      "column": .integer(PropertyListInteger(Int(position.column))),
    ]
  }

  private static func number(_ number: UInt32) -> PropertyListValue { .integer(PropertyListInteger(Int(number))) }

  private static func strings(_ strings: [String]) -> PropertyListValue { .array(strings.map { .string($0) }) }
}
