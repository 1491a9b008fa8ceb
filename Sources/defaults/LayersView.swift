import CommandLineKit
import PreferencesCore
import PropertyList

/// `read --layers`: every place of the search list that has a key, in the order of asking; the first answers.
struct LayersView {
  let reference: DomainReference
  let resolutions: [Resolution]

  /// A line for the answer, then one for each place: its layer, its value, where it is, and whether it is masked.
  func text(_ palette: Palette) -> String {
    resolutions.map { text($0, palette) }.joined(separator: "\n")
  }

  private func text(_ resolution: Resolution, _ palette: Palette) -> String {
    let by = resolution.forcedBy.map { "\"\(TerminalText.escape($0.title))\" (\(TerminalText.escape($0.profile)))" }
    var text = palette.paint(TerminalText.escape(resolution.key), .strong) + " = "
    text += resolution.value?.displayText ?? "—"
    text += resolution.value.map { "  (\($0.type))" } ?? ""
    if let generation = resolution.forcedBy.first?.generation {
      text += ", forced by \(by.joined(separator: " and ")), generation \(generation)"
    }
    var table = TextTable([.left, .left, .left, .left, .left], indent: 2)
    var isAnswered = false
    for candidate in resolution.considered where candidate.value != nil || candidate.path != nil {
      let answers = candidate.value != nil && !isAnswered
      table.add([
        TextTable.Cell(answers ? "●" : ""), TextTable.Cell(place(of: candidate)),
        TextTable.Cell(candidate.value?.displayText ?? "—"),
        TextTable.Cell(candidate.value != nil && isAnswered ? "masked" : "", .warning),
        TextTable.Cell(candidate.path.map { TerminalText.escape($0) } ?? "", .faint),
      ])
      if answers { isAnswered = true }
    }
    return text + "\n" + table.text(palette)
  }

  /// The layer, with the domain where it is another one and the layer alone does not tell.
  private func place(of candidate: Resolution.Candidate) -> String {
    let layer = candidate.layer
    let isTold = candidate.domain == reference.name || layer == .global || layer == .globalHost
    return layer.rawValue + (isTold ? "" : " " + TerminalText.escape(candidate.domain))
  }

  /// `{"domain", "keys": {KEY: {"value", "type", "forced", "forcedBy", "layers": [{"layer", "domain", "path", "value",
  /// "type", "masked"}]}}}`
  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("domain")
    json.string(reference.word)
    json.key("keys")
    json.beginObject()
    for resolution in resolutions {
      json.key(resolution.key)
      json.beginObject()
      write(resolution.value, to: &json)
      json.key("forced")
      json.boolean(resolution.isForced)
      json.key("forcedBy")
      JSONView.write(resolution.forcedBy, to: &json)
      json.key("layers")
      json.beginArray()
      var isAnswered = false
      for candidate in resolution.considered where candidate.value != nil {
        json.beginObject()
        json.key("layer")
        json.string(candidate.layer.rawValue)
        json.key("domain")
        json.string(candidate.domain)
        json.key("path")
        json.optional(candidate.path)
        write(candidate.value, to: &json)
        json.key("masked")
        json.boolean(isAnswered)
        json.endObject()
        isAnswered = true
      }
      json.endArray()
      json.endObject()
    }
    json.endObject()
    json.endObject()
    return json
  }

  private func write(_ value: PropertyListValue?, to json: inout JSONWriter) {
    json.key("value")
    if let value { json.value(value) } else { json.null() }
    json.key("type")
    json.optional(value?.type.description)
  }
}
