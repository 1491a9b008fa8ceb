import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// `read --layers`: every place of the search list that has a key, in the order of asking; the first answers.
struct LayersView {
  let reference: DomainReference
  let resolutions: [Resolution]
  /// What the synced store holds under keys of which only the application knows whether they roam; nil for nothing.
  let undeclared: (path: String, contents: RoamingContents)?

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
    var store = undeclared.flatMap { $0.contents.holds(resolution.key) ? $0 : nil }
    let isOpen = store != nil
    for candidate in resolution.considered where candidate.value != nil || candidate.path != nil {
      // Where it would be asked.
      if let found = store, candidate.layer > .roaming {
        table.add([
          "?", TextTable.Cell(Layer.roaming.rawValue),
          TextTable.Cell(found.contents.values[resolution.key]?.displayText ?? "(removed)"), "",
          TextTable.Cell(TerminalText.escape(found.path), .faint),
        ])
        store = nil
      }
      let answers = candidate.value != nil && !isAnswered
      table.add([
        TextTable.Cell(answers ? "●" : ""), TextTable.Cell(place(of: candidate)),
        TextTable.Cell(candidate.value?.displayText ?? "—"),
        TextTable.Cell(candidate.value != nil && isAnswered ? "masked" : "", .warning),
        TextTable.Cell(candidate.path.map { TerminalText.escape($0) } ?? "", .faint),
      ])
      if answers { isAnswered = true }
    }
    text += "\n" + table.text(palette)
    if isOpen {
      text += "  ?  comes first where the application lets this key roam by itself, which only it knows\n"
    }
    return text
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
      json.key("undeclared")
      if let undeclared, undeclared.contents.holds(resolution.key) {
        json.beginObject()
        json.key("path")
        json.string(undeclared.path)
        write(undeclared.contents.values[resolution.key], to: &json)
        json.endObject()
      } else {
        json.null()
      }
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

extension RoamingContents {
  fileprivate func holds(_ key: String) -> Bool { values[key] != nil || removed.contains(key) }
}
