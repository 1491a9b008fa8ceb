import CommandLineKit
import PropertyList

/// `read-type DOMAIN KEY`: the type of the value that `read` prints.
enum ReadTypeVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "read-type", summary: "Print the type of a value.",
      operands: [Operand("DOMAIN", .domain), Operand("KEY", .key)], flags: [Flags.format],
      notes: ["The types: string, data, integer, float, boolean, date, array, dictionary.", "", Flags.domainNote],
      example: "defaults read-type org.example.Editor AutoSaveInterval")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let reference = try call.requiredDomain()
    let policy = Policy(call.installation())
    if reference.isAboutThisHost, let lock = policy.lock(call) { throw lock }
    let domain = VisibleDomain(reference, policy)
    let key = call.operands[0]
    guard let answer = domain.answer(key) else { throw Missing.key(key, in: domain, call) }
    guard call.wantsJSON else {
      try Output.print("Type is \(ValueView.typeName(answer.value))\n")
      return .done
    }
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("domain")
    json.string(reference.word)
    json.key("key")
    json.string(key)
    json.key("type")
    json.string(answer.value.type.description)
    json.endObject()
    try Output.print(json)
    return .done
  }
}
