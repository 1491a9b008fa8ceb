import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// `write DOMAIN KEY VALUE …` and `write DOMAIN '{…}'`.
enum WriteVerb: VerbProgram {
  static let valueOperand = "VALUE …"

  static var verb: Verb {
    Verb(
      "write", summary: "Set a key of a domain, or replace a domain by '{key = value; …}'.",
      operands: [
        Operand("DOMAIN", .domain), Operand("KEY", .key), Operand(valueOperand, .text, optional: true),
      ],
      flags: [Flags.skipForced],
      notes: [
        "VALUE is one of:\n"
          + "  TEXT         a string, or a property list where it begins with { ( < or \"\n"
          + "  -string TEXT  -data HEX  -int N  -float N  -bool true|false\n"
          + "  -date 2026-11-30T07:00:00Z\n"
          + "  -array ELEMENT …     -array-add ELEMENT …      (an ELEMENT may have a type: -int 3)\n"
          + "  -dict KEY ELEMENT …  -dict-add KEY ELEMENT …\n"
          + "  -- TEXT      nothing after -- is a type",
        "Exits with 0 when the value is on the disk, with 77 when a policy forces the key: then\n"
          + "nothing is written. Says so when a file that comes first has another value, or the\n"
          + "synced store: which keys an application lets roam by itself only it knows.",
        Flags.domainNote,
      ],
      example: "defaults write org.example.Notes recent -array draft -int 3")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let reference = try call.requiredDomain()
    let key = call.operands[0]
    if call.valueWords.isEmpty { return try replace(reference, by: key, call) }
    if call.arguments.has("--skip-forced") {
      throw call.usage("--skip-forced is for whole domains: a forced key alone can't be written")
    }
    let operation = try ValueWords.operation(call)
    try Refusal(reference, call)?.check([key], operation: "set")
    try reference.change(keys: [key], call) { values throws(CommandFailure) in
      values[key] = try result(of: operation, on: values[key], key: key, call)
    }
    Masks.report([key], in: reference, call)
    return .done
  }

  /// What an operation makes of the value that the file has.
  private static func result(
    of operation: WriteOperation, on old: PropertyListValue?, key: String, _ call: Invocation
  ) throws(CommandFailure) -> PropertyListValue {
    switch (operation, old) {
    case (.set(let value), _): return value
    case (.append(let elements), nil): return .array(elements)
    case (.append(let elements), .array(let present)): return .array(present + elements)
    case (.merge(let members), nil): return .dictionary(members)
    case (.merge(let members), .dictionary(let present)): return .dictionary(present.merging(members) { $1 })
    case (.append, let old?): throw wrongType(old, key, "an array", "append", call)
    case (.merge, let old?): throw wrongType(old, key, "a dictionary", "add to it", call)
    }
  }

  /// The next step is the same without `-add`: what is there is replaced.
  private static func wrongType(
    _ old: PropertyListValue, _ key: String, _ wanted: String, _ verb: String, _ call: Invocation
  ) -> CommandFailure {
    CommandFailure(
      .badInput,
      "Value for key \(TerminalText.escape(key)) is not \(wanted) (it is of type \(ValueView.typeName(old))); "
        + "cannot \(verb). Nothing was written",
      next: call.again(withValue: [wanted == "an array" ? "-array" : "-dict"] + call.valueWords.dropFirst()))
  }

  /// `write DOMAIN '{…}'`: the file holds this dictionary afterwards, and nothing else.
  private static func replace(
    _ reference: DomainReference, by text: String, _ call: Invocation
  ) throws(CommandFailure) -> ExitCode {
    let value: PropertyListValue
    do throws(PropertyListError) {
      value = try ValueText.text(text)
    } catch {
      throw call.usage("could not parse: \(TerminalText.escape("\(error)")); quote it for the shell")
    }
    guard case .dictionary(let members) = value else {
      if case .string = value { throw call.usage(.missingOperand(verb: "write", name: "VALUE")) }
      throw call.usage("the value of a whole domain is a dictionary: '{key = value; …}'; nothing was written")
    }
    try WholeDomain.change(reference, call, operation: "set") { values in values = members }
    return .done
  }
}
