import CommandLineKit
import PolicyLanguage
import PropertyList

/// `schema`: the language as a JSON Schema, made from the table that the decoder reads by.
enum SchemaVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "schema", summary: "Print the JSON Schema of the policy language, for editors.",
      example: "policyctl schema")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    var json = JSONWriter(pretty: true)
    json.value(PolicySchema.jsonSchema())
    try Output.print(json)
    return .done
  }
}
