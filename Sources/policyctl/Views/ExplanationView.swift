import CommandLineKit
import LinuxFiles
import PropertyList

/// In whose place, where and when a question was asked.
struct ContextView {
  /// The name a host is enrolled under; nil where nothing is installed and no `--host` was given.
  var host: String?
  /// A name where one is known, else the number.
  var user: String?
  var groups: [String]
  /// Unix seconds.
  var instant: Int64
  var application: String
  var generation: UInt64?
  /// "installed", or the path of the policies or the bundle that answered.
  var source: String

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.key("host")
    json.optional(host)
    json.key("user")
    json.optional(user)
    json.key("groups")
    json.beginArray()
    for group in groups { json.string(group) }
    json.endArray()
    json.key("at")
    json.string(InstantText.rfc3339(instant))
    json.key("app")
    json.string(application)
    json.key("generation")
    json.optional(generation.map { Int64(clamping: $0) })
    json.key("source")
    json.string(source)
    json.endObject()
  }
}

/// One entry of policy in an explanation.
struct EntryView {
  var domain: String
  var profile: String
  var title: String
  var priority: Int64
  var isOverride: Bool
  /// `forced` or `recommended`.
  var section: String
  /// `replace`, `union` or `release`.
  var action: String
  var value: PropertyListValue?
  /// nil where the provenance is withheld.
  var file: String?
  var line: UInt32?
  var column: UInt32?
  var holds: Bool
  var decides: Bool
  /// What the entry asks for: `hosts lab-a-07; until …`; empty: always.
  var condition: String
  /// Why it does not hold; nil when it does.
  var whyNot: String?
  /// What the policy gives as the reason of an override.
  var reason: String?
  var owner: String?
  var ticket: String?

  /// The entry in a word and its value: `forced 5`, `adds ["a"]`, `released`.
  func entryText(isSecret: Bool) -> String {
    let shown = isSecret ? "(secret)" : value?.displayText ?? ""
    return switch action {
    case "release": "released"
    case "union": "\(section) + \(shown)"
    default: "\(section) \(shown)"
    }
  }

  /// Who answers for an entry, in a line; empty where the policy gives no reason and no ticket, or it is withheld.
  func account(_ palette: Palette) -> String {
    var parts: [String] = []
    if let reason { parts.append("reason: \(TerminalText.escape(reason))") }
    guard reason != nil || ticket != nil else { return "" }
    if let owner { parts.append("owner: \(TerminalText.escape(owner))") }
    if let ticket { parts.append("ticket: \(TerminalText.escape(ticket))") }
    let place = file.map { "\(TerminalText.escape($0)):\(line ?? 0):\(column ?? 0)" } ?? TerminalText.escape(profile)
    return "  \(palette.paint(place, .place)): \(parts.joined(separator: "; "))\n"
  }

  func write(to json: inout JSONWriter, isSecret: Bool) {
    json.beginObject()
    json.key("profile")
    json.string(profile)
    json.key("title")
    json.string(title)
    json.key("domain")
    json.string(domain)
    json.key("section")
    json.string(section)
    json.key("priority")
    json.integer(priority)
    json.key("override")
    json.boolean(isOverride)
    json.key("action")
    json.string(action)
    json.key("value")
    if let value, !isSecret { json.value(value) } else { json.null() }
    json.key("file")
    json.optional(file)
    json.key("line")
    json.optional(line.map { Int64($0) })
    json.key("column")
    json.optional(column.map { Int64($0) })
    json.key("holds")
    json.boolean(holds)
    json.key("decides")
    json.boolean(decides)
    json.key("condition")
    json.string(condition)
    json.key("whyNot")
    json.optional(whyNot)
    json.key("reason")
    json.optional(reason)
    json.key("owner")
    json.optional(owner)
    json.key("ticket")
    json.optional(ticket)
    json.endObject()
  }
}

/// A layer below or above the policy, and what it has.
struct LayerView {
  var layer: String
  var path: String?
  var value: PropertyListValue?
}

/// `explain DOMAIN KEY`: the answer, everything that was asked, and why the rest lost.
struct ExplanationView {
  var domain: String
  var answer: AnswerView
  var context: ContextView
  /// In rank order, forced before recommended.
  var entries: [EntryView]
  /// In the order of the search list, without forced and recommended.
  var layers: [LayerView]
  /// The file with lines and reasons may not be read by this user.
  var isProvenanceWithheld: Bool
  /// Sentences that limit the answer, such as layers that were left out.
  /// The profiles that let the key roam.
  var roaming: [String]
  var notes: [String]

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("domain")
    json.string(domain)
    json.key("key")
    json.string(answer.key)
    json.key("context")
    context.write(to: &json)
    answer.writeValue(to: &json)
    json.key("forced")
    json.boolean(answer.isForced)
    json.key("layer")
    json.optional(answer.layer)
    json.key("forcedBy")
    ForcedByView.write(answer.forcedBy, to: &json)
    json.key("entries")
    json.beginArray()
    for entry in entries { entry.write(to: &json, isSecret: answer.isSecret) }
    json.endArray()
    json.key("layers")
    json.beginArray()
    for layer in layers {
      json.beginObject()
      json.key("layer")
      json.string(layer.layer)
      json.key("path")
      json.optional(layer.path)
      json.key("value")
      if let value = layer.value, !answer.isSecret { json.value(value) } else { json.null() }
      json.endObject()
    }
    json.endArray()
    if isProvenanceWithheld {
      json.key("provenance")
      json.string("withheld")
    }
    json.key("notes")
    json.beginArray()
    for note in notes { json.string(note) }
    json.endArray()
    json.key("roaming")
    json.beginArray()
    for profile in roaming { json.string(profile) }
    json.endArray()
    json.endObject()
    return json
  }

  func text(_ palette: Palette, home: String) -> String {
    var text = headline(palette) + "\n"
    if !entries.isEmpty { text += "\n" + entryTable(palette) }
    let below = layers.filter { $0.value != nil || Self.isAlwaysNamed($0.layer) }.map { layer in
      let shown = layer.value.map { answer.isSecret ? "(secret)" : $0.displayText } ?? "—"
      let path =
        layer.value == nil ? nil : layer.path.map { " (\(TerminalText.escape(Self.abbreviate($0, home: home))))" }
      return "\(layer.layer) \(shown)\(path ?? "")"
    }
    if entries.isEmpty { text += "\n  no policy \(roaming.isEmpty ? "mentions" : "sets") this key\n" }
    if !roaming.isEmpty {
      let profiles = roaming.map { TerminalText.escape($0) }.joined(separator: ", ")
      text += "  It roams by \(profiles): its value follows the user from machine to machine.\n"
    }
    if !below.isEmpty { text += "  other layers: " + below.joined(separator: ", ") + "\n" }
    if isProvenanceWithheld {
      text += "  Lines and reasons are for root and the group managed-preferences-audit.\n"
    }
    for note in notes { text += "  \(note)\n" }
    return text
  }

  /// The layers that are named without a value too; of the others most applications have none.
  private static func isAlwaysNamed(_ layer: String) -> Bool {
    ["application", "global", "registration"].contains(layer)
  }

  private func headline(_ palette: Palette) -> String {
    guard let value = answer.value else {
      return answer.isForced
        ? palette.paint("locked", .error) + ": the forced domain can't be read, so every key counts as forced"
        : "\(TerminalText.escape(answer.key)) has no value"
    }
    var line = palette.paint(answer.valueText, .strong) + "  (\(value.type))"
    let profiles = answer.forcedBy.map { "\"\(TerminalText.escape($0.title))\" (\(TerminalText.escape($0.profile)))" }
    if answer.isForced {
      line += "  " + palette.paint("forced", .warning)
      if !profiles.isEmpty { line += " by " + profiles.joined(separator: ", ") }
      if let generation = answer.forcedBy.first?.generation { line += ", generation \(generation)" }
    } else if answer.layer == "recommended" {
      let titles = entries.filter { $0.decides && $0.section == "recommended" }.map(\.title)
      line += "  recommended"
      if !titles.isEmpty { line += " by " + titles.map { "\"\(TerminalText.escape($0))\"" }.joined(separator: ", ") }
    } else if let layer = answer.layer {
      line += "  from the layer \(layer)"
    }
    return line
  }

  private func entryTable(_ palette: Palette) -> String {
    let hasPlaces = entries.contains { $0.file != nil }
    var table = TextTable(
      hasPlaces ? [.right, .left, .left, .left, .left, .left] : [.right, .left, .left, .left, .left], indent: 2)
    let place: [TextTable.Cell] = hasPlaces ? [TextTable.Cell("where", .faint)] : []
    table.add(
      [TextTable.Cell("rank", .faint), TextTable.Cell("profile", .faint), TextTable.Cell("entry", .faint)] + place
        + [TextTable.Cell("holds", .faint), TextTable.Cell("why", .faint)])
    for entry in entries {
      let profile = TerminalText.escape(entry.profile) + (entry.isOverride ? ", override" : "")
      let source: [TextTable.Cell] =
        hasPlaces
        ? [
          TextTable.Cell(
            entry.file.map { "\(TerminalText.escape($0)):\(entry.line ?? 0):\(entry.column ?? 0)" } ?? "", .place)
        ] : []
      let outcome: TextTable.Cell =
        entry.decides
        ? TextTable.Cell("● decides", .good)
        : TextTable.Cell(entry.whyNot.map { TerminalText.escape($0) } ?? "outranked")
      table.add(
        [
          TextTable.Cell(String(entry.priority)), TextTable.Cell(profile),
          TextTable.Cell(entry.entryText(isSecret: answer.isSecret)),
        ] + source + [TextTable.Cell(entry.holds ? "yes" : "no"), outcome])
    }
    return table.text(palette) + entries.map { $0.account(palette) }.joined()
  }

  /// A path below the home folder with `~`.
  static func abbreviate(_ path: String, home: String) -> String {
    guard !home.isEmpty, home != "/", path.utf8.starts(with: (home + "/").utf8) else { return path }
    return "~" + path.dropFirst(home.count)
  }
}
