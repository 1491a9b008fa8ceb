import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// Values as people read them.
enum ValueView {
  /// The form of macOS, with a new line. On a terminal nothing in a string may act on it; line breaks stay.
  static func text(_ value: PropertyListValue) -> String {
    guard case .string(let text) = value, StandardStreams.isOutputTerminal else {
      return PropertyListDescription.text(of: value) + "\n"
    }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { TerminalText.escape($0) }
      .joined(separator: "\n") + "\n"
  }

  /// The name of a value's type as `read-type` says it.
  static func typeName(_ value: PropertyListValue) -> String {
    value.type == .real ? "float" : value.type.description
  }
}

/// `--format json` of `read` and `find`: the form of `policyctl get`.
enum JSONView {
  /// `{"domain", "values": {KEY: {"value", "type", "layer", "forced", "forcedBy"}}}`
  static func write(
    _ answers: [String: VisibleDomain.Answer], of reference: DomainReference, _ policy: Policy,
    to json: inout JSONWriter
  ) {
    json.beginObject()
    json.key("domain")
    json.string(reference.word)
    json.key("values")
    json.beginObject()
    for key in answers.keys.sortedByBytes() {
      guard let answer = answers[key] else { continue }
      json.key(key)
      json.beginObject()
      json.key("value")
      json.value(answer.value)
      json.key("type")
      json.string(answer.value.type.description)
      json.key("layer")
      json.optional(reference.name == nil ? nil : answer.layer.rawValue)
      json.key("forced")
      json.boolean(answer.isForced)
      json.key("forcedBy")
      let forced = answer.isForced ? reference.name.flatMap { policy.forced(key, in: $0) } : nil
      write(forced?.forcedBy ?? [], to: &json)
      json.endObject()
    }
    json.endObject()
    json.endObject()
  }

  /// `[{"profile", "title", "generation"}]`
  static func write(_ profiles: [ForcedBy], to json: inout JSONWriter) {
    json.beginArray()
    for profile in profiles {
      json.beginObject()
      json.key("profile")
      json.string(profile.profile)
      json.key("title")
      json.string(profile.title)
      json.key("generation")
      json.integer(profile.generation)
      json.endObject()
    }
    json.endArray()
  }
}

extension Output {
  /// One JSON document, with a final new line.
  static func print(_ json: JSONWriter) throws(CommandFailure) { try print(json.bytes + [UInt8(ascii: "\n")]) }
}
