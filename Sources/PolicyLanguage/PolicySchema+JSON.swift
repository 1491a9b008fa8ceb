public import PropertyList

extension PolicySchema {
  /// The language as a JSON Schema (draft 2020-12) for editors: complete as to fields, types and choices; what the
  /// decoder checks beyond that (patterns of hosts, groups, time zones) is described in words.
  public static func jsonSchema() -> PropertyListValue {
    var definitions: [String: PropertyListValue] = [:]
    for kind in kinds { definitions[kind.name] = schema(of: kind.shape) }
    definitions["Value"] =
      [
        "description": .string("A value of a policy: text, number, true or false, list or mapping; never null."),
        "type": .array(["string", "number", "boolean", "array", "object"].map { .string($0) }),
      ].schema
    return [
      "$schema": .string("https://json-schema.org/draft/2020-12/schema"),
      "title": .string("Managed preferences policy"),
      "description": .string("A document of a policy tree: a Profile, an Inventory, a Manifest or Tests."),
      "type": .string("object"),
      "required": .array([.string("version"), .string("kind")]),
      "oneOf": .array(kinds.map { ["$ref": .string("#/$defs/\($0.name)")].schema }),
      "$defs": .dictionary(definitions),
    ].schema
  }

  private static func schema(of shape: Shape) -> PropertyListValue {
    var properties: [String: PropertyListValue] = [:]
    for field in shape.fields {
      var schema = members(of: field.type)
      schema["description"] = .string(field.summary)
      properties[field.name] = .dictionary(schema)
    }
    var result: [String: PropertyListValue] = [
      "type": .string("object"), "properties": .dictionary(properties), "additionalProperties": .boolean(false),
    ]
    let required = shape.fields.filter(\.isRequired).map { PropertyListValue.string($0.name) }
    if !required.isEmpty { result["required"] = .array(required) }
    return .dictionary(result)
  }

  private static func members(of type: FieldType) -> [String: PropertyListValue] {
    switch type {
    case .text(let pattern):
      // Plain scalars that look like numbers are text here as well.
      guard let pattern else { return ["type": .array([.string("string"), .string("number"), .string("boolean")])] }
      return ["type": .string("string"), "pattern": .string(pattern)]
    case .instant: return ["type": .string("string"), "format": .string("date-time")]
    case .integer: return ["type": .string("integer")]
    case .boolean: return ["type": .string("boolean")]
    case .number: return ["type": .string("number")]
    case .constant(.integer(let value)): return ["const": .integer(PropertyListInteger(value))]
    case .constant(.text(let value)): return ["const": .string(value)]
    case .choice(let choices): return ["enum": .array(choices.map { .string($0) })]
    case .list(let element, let exactly):
      return [
        "type": .string("array"), "items": .dictionary(members(of: element)),
        "minItems": .integer(PropertyListInteger(exactly ?? 1)),
      ].merging(exactly.map { ["maxItems": .integer(PropertyListInteger($0))] } ?? [:]) { first, _ in first }
    case .mapping(let shape):
      guard case .dictionary(let members) = schema(of: shape) else { return [:] }
      return members
    case .keyed(let value):
      return ["type": .string("object"), "additionalProperties": .dictionary(members(of: value))]
    case .value: return ["$ref": .string("#/$defs/Value")]
    case .oneOf(let types): return ["anyOf": .array(types.map { .dictionary(members(of: $0)) })]
    }
  }
}

extension [String: PropertyListValue] {
  fileprivate var schema: PropertyListValue { .dictionary(self) }
}
