/// The fields of the policy language: one table, from which the decoder knows what may stand where and from which
/// ``jsonSchema()`` is made for editors.
public enum PolicySchema {
  /// What a field takes.
  indirect enum FieldType: Sendable {
    /// Text; `pattern` is a regular expression for editors, the decoder says more precisely what is wrong.
    case text(pattern: String? = nil)
    case instant
    case integer
    case boolean
    case number
    case constant(Constant)
    case choice([String])
    case list(FieldType, exactly: Int? = nil)
    case mapping(Shape)
    /// A mapping whose keys are names that the administrator chooses.
    case keyed(FieldType)
    /// A value of a policy: anything but null.
    case value
    case oneOf([FieldType])
  }

  enum Constant: Sendable {
    case integer(Int64)
    case text(String)
  }

  /// One field of a mapping.
  struct Field: Sendable {
    let name: String
    let type: FieldType
    let isRequired: Bool
    let summary: String
  }

  /// A kind of mapping: what messages call it, and its fields in the order of the documentation.
  final class Shape: Sendable {
    /// With its article: "a profile".
    let name: String
    let fields: [Field]
    let reserved: [String]

    init(_ name: String, reserved: [String] = [], _ fields: [Field]) {
      self.name = name
      self.fields = fields
      self.reserved = reserved
    }

    func index(of name: String) -> Int? { fields.firstIndex { $0.name == name } }
  }

  private static func required(_ name: String, _ type: FieldType, _ summary: String) -> Field {
    Field(name: name, type: type, isRequired: true, summary: summary)
  }

  private static func optional(_ name: String, _ type: FieldType, _ summary: String) -> Field {
    Field(name: name, type: type, isRequired: false, summary: summary)
  }

  private static func head(_ kind: String) -> [Field] {
    [
      required("version", .constant(.integer(1)), "The version of the policy language."),
      required("kind", .constant(.text(kind)), "What this document is."),
    ]
  }

  // MARK: Selections

  private static let texts = FieldType.list(.text())
  private static let domains = FieldType.list(.text(pattern: domainPattern))
  private static let domainPattern = "^[^./][^/]*$"

  private static let hostItemFields = [
    optional("names", .list(.text(pattern: "^[A-Za-z0-9._*?\\[\\]-]+$")), "Literal names, globs and ranges of hosts."),
    optional("groups", texts, "Host groups of the inventory."),
  ]
  static let hostItems = Shape("a selection of hosts", hostItemFields)
  static let hosts = Shape(
    "a selection of hosts",
    hostItemFields + [optional("except", .mapping(hostItems), "Hosts that are always subtracted.")])

  private static let userItemFields = [
    optional("names", texts, "User names; \"*\" means people, not root or system accounts."),
    optional("groups", texts, "User groups of the inventory."),
  ]
  static let userItems = Shape("a selection of users", userItemFields)
  static let users = Shape(
    "a selection of users",
    userItemFields + [optional("except", .mapping(userItems), "Users that are always subtracted.")])

  static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let time = FieldType.text(pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$")
  static let window = Shape(
    "a time window",
    [
      optional("days", .list(.choice(days)), "The days on which the window starts; every day if absent."),
      required("from", time, "Wall-clock time at which it opens, included."),
      required("to", time, "Wall-clock time at which it closes, excluded; not later than `from` means the next day."),
      required("timezone", .text(pattern: "^[A-Za-z0-9_+/-]+$"), "The IANA name of the time zone."),
      optional(
        "between", .list(.text(pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), exactly: 2),
        "The first and the last day on which it starts, both included."),
    ])

  private static let scopeFields = [
    optional("hosts", .mapping(hosts), "The hosts that this concerns; every host if absent."),
    optional("users", .mapping(users), "The users that this concerns; everyone if absent."),
    optional("during", .list(.mapping(window)), "The time windows in which this holds; always if absent."),
  ]
  static let scope = Shape("the scope of a profile", scopeFields)

  // MARK: Profile

  private static let settings = FieldType.keyed(.keyed(.value))
  private static let sectionFields = [
    optional("forced", settings, "Domain, key and value: read-only, and first in the search list."),
    optional(
      "recommended", settings, "Domain, key and value: an administrator's default, which the user's choice beats."),
    optional("release", .keyed(texts), "Domain and keys: stop forcing what a lower rank forces."),
  ]

  static let override = Shape(
    "an override",
    scopeFields + [
      required("reason", .text(), "Why this part differs."),
      optional("owner", .text(), "Who answers for it."),
      optional("ticket", .text(), "Where it was decided."),
      optional("expires", .instant, "The instant, with its offset, from which it holds no more."),
    ] + sectionFields)

  static let operators = Shape(
    "an expectation",
    [
      optional("is", .value, "The value must be this one."),
      optional("min", .number, "The number must not be below this."),
      optional("max", .number, "The number must not be above this."),
      optional("oneOf", .list(.value), "The value must be one of these."),
      optional("contains", .value, "The array, text or dictionary must contain this."),
    ])

  static let control = Shape(
    "a control",
    [
      required("id", .text(), "The name that exemptions and reports use."),
      required("title", .text(), "What is checked, in one line."),
      optional("references", texts, "Rules of standards that ask for it."),
      optional(
        "severity", .choice(Control.Severity.allCases.map(\.rawValue)), "How much a failure matters; medium if absent."),
      required(
        "expect", .keyed(.keyed(.oneOf([.mapping(operators), .value]))),
        "Domain, key and the value (or the operators) that must hold."),
    ])

  static let exemption = Shape(
    "an exemption",
    [required("control", .text(), "The id of the control that is not asked here.")] + scopeFields + [
      required("reason", .text(), "Why it is granted."),
      required("owner", .text(), "Who answers for it."),
      required("expires", .instant, "The instant, with its offset, from which it holds no more."),
    ])

  static let container = Shape(
    "a container",
    [
      optional("groups", domains, "Group domains that it shares, read and write."),
      optional("read", domains, "Foreign domains that it may read."),
      optional("files", .list(.text(pattern: "^(~?/|~$)")), "Paths that it may use; never a preferences path."),
    ])

  static let profile = Shape(
    "a profile", reserved: ["lease", "render"],
    head("Profile") + [
      required("id", .text(pattern: "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)+$"), "Reverse-DNS, unique in the policy tree."),
      required("title", .text(), "What people see it called."),
      optional("description", .text(), "What it is for."),
      optional("owner", .text(), "Who answers for it."),
      optional("priority", .integer, "The larger wins; 0 if absent."),
      optional(
        "applies", .mapping(scope), "Where, for whom and when it applies; everywhere, to everyone, always if absent."),
    ] + sectionFields + [
      optional("overrides", .list(.mapping(override)), "Narrower parts, which beat the profile's own."),
      optional("controls", .list(.mapping(control)), "What an auditor checks where the profile applies."),
      optional("exemptions", .list(.mapping(exemption)), "Where controls are not asked."),
      optional("containers", .keyed(.mapping(container)), "Applications that are contained, and what each may share."),
      optional(
        "roaming", .keyed(texts), "Applications, and keys whose values follow the user from machine to machine."),
    ])

  // MARK: Inventory, Manifest, Tests

  static let hostGroup = Shape("a host group", hostItemFields)
  static let hostGroups = Shape(
    "the hosts of an inventory", [optional("groups", .keyed(.mapping(hostGroup)), "Groups by name.")])
  static let userGroup = Shape(
    "a user group",
    [
      optional("names", texts, "User names."),
      optional("unixGroups", texts, "Groups of the operating system."),
      optional("groups", texts, "Other user groups of the inventory."),
    ])
  static let userGroups = Shape(
    "the users of an inventory", [optional("groups", .keyed(.mapping(userGroup)), "Groups by name.")])

  static let inventory = Shape(
    "an inventory",
    head("Inventory") + [
      optional(
        "unknownHosts", .choice(Inventory.UnknownHosts.allCases.map(\.rawValue)),
        "What install does on a host that is not listed; refuse if absent."),
      optional("hosts", .mapping(hostGroups), "The hosts, in groups."),
      optional("users", .mapping(userGroups), "The users, in groups."),
    ])

  private static let typeNames = ["string", "integer", "real", "boolean", "date", "data", "array", "dictionary"]
  static let manifestKey = Shape(
    "the description of a key",
    [
      optional("type", .choice(typeNames), "The type of its value."),
      optional("items", .choice(typeNames), "The type of an array's elements."),
      optional("range", .list(.number, exactly: 2), "The least and the greatest number, both included."),
      optional("enum", .list(.value), "The values that it may have."),
      optional("default", .value, "What the application uses without a setting."),
      optional("title", .text(), "What people see it called."),
      optional("unit", .text(), "What its number counts."),
      optional(
        "merge", .choice(ManifestKey.Merge.allCases.map(\.rawValue)),
        "How entries of several ranks come together; replace if absent."),
      optional("secret", .boolean, "Never printed, logged or reported; forcing it is refused."),
      optional("deprecated", .text(), "What to use instead."),
    ])
  static let manifest = Shape(
    "a manifest",
    head("Manifest") + [
      required("domain", .text(pattern: domainPattern), "The domain that it describes."),
      required("keys", .keyed(.mapping(manifestKey)), "The domain's keys by name."),
    ])

  static let given = Shape(
    "the context of a test case",
    [
      optional("host", .text(), "The host's name."),
      optional("user", .text(), "The user's name."),
      optional("groups", texts, "User groups of the inventory."),
      optional("at", .instant, "The instant, with its offset."),
      optional("app", .text(pattern: domainPattern), "The application's domain."),
    ])
  static let expected = Shape(
    "the expectations of a test case",
    [
      optional("forced", settings, "Domain, key and the value to which it must be forced."),
      optional("notForced", .keyed(texts), "Domain and keys that must not be forced."),
      optional("value", settings, "Domain, key and the value that must be in effect, forced or recommended."),
    ])
  static let testCase = Shape(
    "a test case",
    [
      required("name", .text(), "What is tested, in one line."),
      optional("given", .mapping(given), "The context."),
      required("expect", .mapping(expected), "The answers that the policy must give."),
    ])
  static let tests = Shape(
    "a Tests document",
    head("Tests") + [required("cases", .list(.mapping(testCase)), "Questions and their answers.")])

  /// The kinds of documents.
  static let kinds: [(name: String, shape: Shape)] = [
    ("Profile", profile), ("Inventory", inventory), ("Manifest", manifest), ("Tests", tests),
  ]
}
