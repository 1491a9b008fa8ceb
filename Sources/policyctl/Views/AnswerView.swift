import CommandLineKit
import LinuxFiles
import PropertyList

/// A profile that forces a value: `{"profile", "title", "generation"}`.
struct ForcedByView: Hashable {
  var profile: String
  var title: String
  /// nil where the answer comes from policies that are not installed.
  var generation: UInt64?

  static func write(_ profiles: [ForcedByView], to json: inout JSONWriter) {
    json.beginArray()
    for profile in profiles {
      json.beginObject()
      json.key("profile")
      json.string(profile.profile)
      json.key("title")
      json.string(profile.title)
      json.key("generation")
      json.optional(profile.generation.map { Int64(clamping: $0) })
      json.endObject()
    }
    json.endArray()
  }
}

/// The answer for one key: what an application would read, and who says so.
struct AnswerView {
  var key: String
  /// nil: no layer has the key.
  var value: PropertyListValue?
  /// A name of the one table of layers; nil without a value.
  var layer: String?
  var isForced: Bool
  var forcedBy: [ForcedByView]
  /// The file of the layer, where it has one.
  var path: String?
  /// The manifest says that this value is never printed.
  var isSecret = false

  /// The value as people read it.
  var valueText: String {
    guard let value else { return "—" }
    return isSecret ? "(secret)" : value.displayText
  }

  /// `"value"` and `"type"`; a secret has its type and null.
  func writeValue(to json: inout JSONWriter) {
    json.key("value")
    if let value, !isSecret { json.value(value) } else { json.null() }
    json.key("type")
    json.optional(value?.type.description)
    if isSecret {
      json.key("secret")
      json.boolean(true)
    }
  }
}

/// `get DOMAIN [KEY]`.
struct GetView {
  var domain: String
  /// Sorted by key.
  var answers: [AnswerView]

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("domain")
    json.string(domain)
    json.key("values")
    json.beginObject()
    for answer in answers {
      json.key(answer.key)
      json.beginObject()
      answer.writeValue(to: &json)
      json.key("layer")
      json.optional(answer.layer)
      json.key("forced")
      json.boolean(answer.isForced)
      json.key("forcedBy")
      ForcedByView.write(answer.forcedBy, to: &json)
      json.endObject()
    }
    json.endObject()
    json.endObject()
    return json
  }

  /// One line a key: key, value, type, layer, and who forces it or which file has it.
  func table(_ palette: Palette) -> String {
    var table = TextTable([.left, .left, .left, .left, .left])
    for answer in answers {
      let from = answer.forcedBy.map { "\"\(TerminalText.escape($0.title))\"" }.joined(separator: ", ")
      table.add([
        TextTable.Cell(TerminalText.escape(answer.key), .strong), TextTable.Cell(answer.valueText),
        TextTable.Cell(answer.value?.type.description ?? "", .faint),
        TextTable.Cell(answer.layer ?? "", answer.isForced ? .warning : nil),
        TextTable.Cell(from.isEmpty ? answer.path.map { TerminalText.escape($0) } ?? "" : from),
      ])
    }
    return table.text(palette)
  }

  /// The bare value of a single key, for scripts.
  static func bare(_ answer: AnswerView, onTerminal: Bool) -> String {
    if let value = answer.value, !answer.isSecret { return bare(value, onTerminal: onTerminal) }
    return answer.valueText + "\n"
  }

  /// A string as it is (escaped on a terminal), anything else as people read it.
  static func bare(_ value: PropertyListValue, onTerminal: Bool) -> String {
    if case .string(let text) = value { return (onTerminal ? TerminalText.escape(text) : text) + "\n" }
    return value.displayText + "\n"
  }
}
