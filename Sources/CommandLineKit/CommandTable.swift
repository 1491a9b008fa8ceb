/// What a flag's value or an operand can be: checked by the parser, and enough for a shell to complete it.
public enum ArgumentKind: Sendable, Hashable {
  case text
  case host
  case user
  case group
  case instant
  case application
  case domain
  case key
  case file
  case directory
  /// A whole number from 0 to 2⁶⁴−1.
  case number
  /// One of these words.
  case choice([String])
}

/// A flag of a verb: a switch, or a name with a value.
public struct Flag: Sendable, Hashable {
  /// With its dashes: `--host`.
  public let name: String
  /// A one-letter form with its dash, `-o`, where there is one.
  public let short: String?
  /// The name of the value in the usage line (`NAME`), nil for a switch.
  public let placeholder: String?
  public let kind: ArgumentKind
  /// One line for `--help`, without a full stop.
  public let summary: String
  /// Whether it may be given more than once.
  public let repeats: Bool

  /// A switch: given or not.
  public init(_ name: String, short: String? = nil, _ summary: String) {
    self.name = name
    self.short = short
    self.placeholder = nil
    self.kind = .text
    self.summary = summary
    self.repeats = false
  }

  /// A flag with a value.
  public init(
    _ name: String, short: String? = nil, value placeholder: String, _ kind: ArgumentKind, repeats: Bool = false,
    _ summary: String
  ) {
    self.name = name
    self.short = short
    self.placeholder = placeholder
    self.kind = kind
    self.summary = summary
    self.repeats = repeats
  }
}

/// A word of the command line that is not a flag.
public struct Operand: Sendable, Hashable {
  /// As the usage line shows it: `DOMAIN`.
  public let name: String
  public let kind: ArgumentKind
  public let isRequired: Bool
  /// Whether it stands for all words that are left. Those belong to another command: from the verb's first operand on,
  /// nothing is a flag of ours.
  public let takesRest: Bool

  public init(_ name: String, _ kind: ArgumentKind, optional: Bool = false, takesRest: Bool = false) {
    self.name = name
    self.kind = kind
    self.isRequired = !optional
    self.takesRest = takesRest
  }
}

/// One verb of a command: all that the parser, `--help` and a shell's completion need to know of it.
public struct Verb: Sendable, Hashable {
  /// The words that call it: `["explain"]`, `["key", "generate"]`.
  public let path: [String]
  /// One sentence, with its full stop: the first line of `--help`.
  public let summary: String
  public let operands: [Operand]
  public let flags: [Flag]
  /// Lines that stand between the flags and the example.
  public let notes: [String]
  /// The last line of `--help`, which works as typed.
  public let example: String

  public init(
    _ path: String..., summary: String, operands: [Operand] = [], flags: [Flag] = [], notes: [String] = [],
    example: String
  ) {
    self.path = path
    self.summary = summary
    self.operands = operands
    self.flags = flags
    self.notes = notes
    self.example = example
  }

  /// Whether what follows its flags is the line of another command.
  var takesCommand: Bool { operands.last?.takesRest == true }

  /// The verb as it is typed: `key generate`.
  public var name: String { path.joined(separator: " ") }
}

/// The entry of one verb in the overview of a command: enough to list and to suggest it, without building its table.
public struct VerbSummary: Sendable, Hashable {
  public let name: String
  /// A few words for the overview.
  public let summary: String

  public init(_ name: String, _ summary: String) {
    self.name = name
    self.summary = summary
  }
}

/// A command's overview: what `COMMAND --help` prints.
public struct CommandOverview: Sendable, Hashable {
  public let name: String
  /// One sentence, with its full stop.
  public let summary: String
  /// Verbs in groups, each under a heading.
  public let groups: [(heading: String, verbs: [VerbSummary])]
  /// What may stand before the verb, as the usage line shows it.
  public let flags: String
  /// Lines that stand between the verbs and the example.
  public let notes: [String]
  public let example: String

  public init(
    name: String, summary: String, flags: String = "[--root DIR]",
    groups: [(heading: String, verbs: [VerbSummary])], notes: [String] = [], example: String
  ) {
    self.name = name
    self.summary = summary
    self.groups = groups
    self.flags = flags
    self.notes = notes
    self.example = example
  }

  public var verbNames: [String] { groups.flatMap { $0.verbs.map(\.name) } }

  public static func == (a: Self, b: Self) -> Bool {
    a.name == b.name && a.summary == b.summary && a.flags == b.flags && a.notes == b.notes && a.example == b.example
      && a.groups.map(\.heading) == b.groups.map(\.heading) && a.groups.map(\.verbs) == b.groups.map(\.verbs)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
