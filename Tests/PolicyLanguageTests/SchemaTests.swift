import PolicyLanguage
import PropertyList
import Testing

/// The JSON Schema: of the draft that it names, complete, and made of the decoder's own fields.
@Suite struct SchemaTests {
  let schema: [String: PropertyListValue]

  init() throws { schema = try #require(PolicySchema.jsonSchema().members) }

  @Test func head() {
    #expect(schema["$schema"] == .string("https://json-schema.org/draft/2020-12/schema"))
    #expect(
      schema["oneOf"]
        == .array(
          ["Profile", "Inventory", "Manifest", "Tests"].map { .dictionary(["$ref": .string("#/$defs/\($0)")]) }))
  }

  private func check(_ value: PropertyListValue, _ path: String) {
    if case .array(let elements) = value { for element in elements { check(element, path) } }
    guard let members = value.members else { return }
    if let properties = members["properties"]?.members {
      #expect(members["additionalProperties"] == .boolean(false), "\(path)")
      for (name, property) in properties {
        #expect(property.members?["description"] != nil, "\(path).\(name)")
      }
      if case .array(let required)? = members["required"] {
        for case .string(let name) in required { #expect(properties[name] != nil, "\(path).\(name)") }
      }
    }
    for (name, member) in members { check(member, "\(path).\(name)") }
  }

  @Test func everyFieldIsDescribed() { check(.dictionary(schema), "$") }

  @Test func fieldsOfAProfile() throws {
    let profile = try #require(schema["$defs"]?.members?["Profile"]?.members)
    #expect(
      profile["properties"]?.members?.keys.sorted() == [
        "applies", "containers", "controls", "description", "exemptions", "forced", "id", "kind", "overrides", "owner",
        "priority", "recommended", "release", "roaming", "title", "version",
      ])
    #expect(profile["required"] == .array(["version", "kind", "id", "title"].map { .string($0) }))
    let properties = profile["properties"]?.members
    #expect(properties?["kind"]?.members?["const"] == .string("Profile"))
    #expect(properties?["version"]?.members?["const"] == .integer(1))
  }
}

extension PropertyListValue {
  fileprivate var members: [String: PropertyListValue]? {
    guard case .dictionary(let members) = self else { return nil }
    return members
  }
}
