import AuditEvents
import CommandLineKit
import LinuxFiles
import PropertyList

/// A path that was looked for: read, skipped or missing, and why.
struct SearchedPathView {
  var path: String
  /// `read`, `skipped`, `missing` or `refused`.
  var outcome: String
  /// Empty where the outcome says it all.
  var why: String
}

/// A key of a managed domain that the user has set in a file of his own, unforced.
struct UserSetView {
  var domain: String
  var key: String
  var value: String
  var path: String
}

/// `status`: what is in force here, and what is wrong.
struct StatusView {
  /// `installed`, `not installed` or `unavailable`.
  var state: String
  var host: String?
  var enrolled: Int64?
  var generation: UInt64?
  var serial: UInt64?
  /// `signed by lab-2026 (trusted)`, `unsigned`.
  var signature: String?
  var installed: Int64?
  /// `match`, `differ`, `absent`, `unknown`; and the sentence for it.
  var sources: String
  var sourcesText: String
  /// The folder or the bundle that was installed from; nil where that is not known.
  var source: String?
  var forcedKeys = 0
  /// Applications, by identifier.
  var contained: [String] = []
  var recommendedKeys = 0
  var domains = 0
  /// Unix seconds up to which windows are expanded; nil without windows.
  var horizon: Int64?
  var windows = 0
  var nextEdge: Int64?
  /// The zone of the rule that has the next edge.
  var nextEdgeZone: String?
  var executable: String?
  var agent = AgentStatus.Answer.nobody
  /// What the log says of an agent that does not answer; nil where one does.
  var agentEnd: AgentEnd?
  /// As `AuditEnd` has it; nil where there is no log, or it can't be read.
  var audit: String?
  var faults: [String]
  /// The command that mends most of the faults; nil without any.
  var next: String?
  var paths: [SearchedPathView]
  /// nil unless it was asked for.
  var userSet: [UserSetView]?
  var now: Int64

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("state")
    json.string(state)
    json.key("host")
    json.optional(host)
    json.key("enrolled")
    json.optional(enrolled.map(InstantText.rfc3339))
    json.key("generation")
    json.optional(generation.map { Int64(clamping: $0) })
    json.key("serial")
    json.optional(serial.map { Int64(clamping: $0) })
    json.key("signature")
    json.optional(signature)
    json.key("installed")
    json.optional(installed.map(InstantText.rfc3339))
    json.key("sources")
    json.string(sources)
    json.key("source")
    json.optional(source)
    json.key("forcedKeys")
    json.integer(Int64(forcedKeys))
    json.key("recommendedKeys")
    json.integer(Int64(recommendedKeys))
    json.key("domains")
    json.integer(Int64(domains))
    json.key("windows")
    json.integer(Int64(windows))
    json.key("horizon")
    json.optional(horizon.map(InstantText.rfc3339))
    json.key("nextEdge")
    json.optional(nextEdge.map(InstantText.rfc3339))
    json.key("agent")
    switch agent {
    case .status(let status):
      json.string("running")
      json.key("heartbeat")
      json.string(InstantText.rfc3339(status.heartbeat))
      json.key("spoolsLeft")
      json.integer(Int64(status.spoolsLeft))
    case .silence, .nobody:
      json.string(agent == .silence ? "not answering" : "not running")
      json.key("heartbeat")
      json.optional(agentEnd?.lastWord.map(InstantText.rfc3339))
      json.key("spoolsLeft")
      json.optional(Int64?.none)
    }
    json.key("agentEnd")
    // Where a socket is there, an agent may be.
    json.optional(agent == .nobody ? agentEnd?.reason.rawValue : nil)
    json.key("audit")
    json.optional(audit)
    json.key("faults")
    json.beginArray()
    for fault in faults { json.string(fault) }
    json.endArray()
    json.key("next")
    json.optional(next)
    json.key("paths")
    json.beginArray()
    for path in paths {
      json.beginObject()
      json.key("path")
      json.string(path.path)
      json.key("outcome")
      json.string(path.outcome)
      json.key("why")
      json.string(path.why)
      json.endObject()
    }
    json.endArray()
    json.key("contained")
    json.strings(contained)
    if let userSet {
      json.key("userSet")
      json.beginArray()
      for key in userSet {
        json.beginObject()
        json.key("domain")
        json.string(key.domain)
        json.key("key")
        json.string(key.key)
        json.key("value")
        json.string(key.value)
        json.key("path")
        json.string(key.path)
        json.endObject()
      }
      json.endArray()
    }
    json.endObject()
    return json
  }

  /// Why no agent is there. One that was stopped, or never ran, is nobody's fault; one that is gone without a word may be.
  private var absence: (text: String, style: TextStyle?) {
    let last = agentEnd?.lastWord.map { InstantText.ago($0, now: now) } ?? "unknown"
    return switch agentEnd?.reason {
    case .neverRan: ("none (optional); the log tells of none", nil)
    case .stopped: ("stopped \(last) (optional)", nil)
    case .uninstalled: ("none has run since the uninstallation (optional)", nil)
    case .killed: ("killed, or crashed: it ended without a word; last heard of \(last)", .warning)
    case .earlierBoot:
      ("not running since this boot: it ended without a word, or the machine did; last heard of \(last)", .warning)
    case .unknown, nil: ("not running (optional); the log, which may say why, can't be read", nil)
    }
  }

  func text(_ palette: Palette, home: String) -> String {
    var table = TextTable([.left, .left])
    func row(_ label: String, _ text: String, _ style: TextStyle? = nil) {
      table.add([TextTable.Cell(label, .faint), TextTable.Cell(text, style)])
    }
    let enrolledText = enrolled.map { " (enrolled \(InstantText.day($0)))" } ?? ""
    row("host", host.map { TerminalText.escape($0) + enrolledText } ?? "not enrolled")
    switch state {
    case "installed":
      var line = "\(generation ?? 0)"
      if let serial, serial > 0 { line += ", bundle \(serial)" }
      if let signature { line += ", \(signature)" }
      if let installed { line += ", installed \(InstantText.short(installed, now: now))" }
      row("generation", line)
      row("sources", sourcesText)
      var forced = "\(Count.text(forcedKeys, "key")) in \(Count.text(domains, "domain"))"
      if recommendedKeys > 0 { forced += ", \(recommendedKeys) recommended" }
      if windows > 0 {
        forced += "; windows"
        if let horizon { forced += " until \(InstantText.day(horizon))" }
        forced +=
          nextEdge.map { ", next edge \(InstantText.short($0, now: now, zone: nextEdgeZone))" } ?? ", no edge ahead"
      } else if let nextEdge {
        forced += "; next edge \(InstantText.short(nextEdge, now: now, zone: nextEdgeZone))"
      }
      row("forced", forced)
      if !contained.isEmpty {
        row("contained", contained.map { TerminalText.escape($0) }.joined(separator: ", "))
      }
    case "unavailable":
      row("generation", "can't be read: every key counts as forced, and only registered defaults answer", .error)
    default:
      row("generation", faults.isEmpty ? "none: nothing is installed here" : "none")
    }
    // Nothing that binds needs it: applications read what is installed by themselves.
    switch agent {
    case .status(let status):
      let left =
        status.spoolsLeft > 0
        ? "; leaves alone \(Count.text(status.spoolsLeft, "spool")) of other hosts or installations" : ""
      row("agent", "running, last heartbeat \(InstantText.ago(status.heartbeat, now: now))\(left)")
    case .silence:
      let word = agentEnd?.lastWord.map { "; by the log, last heard of \(InstantText.ago($0, now: now))" } ?? ""
      row("agent", "not answering: its socket is there, and nobody answers in time\(word)", .warning)
    case .nobody:
      let (text, style) = absence
      row("agent", text, style)
    }
    switch audit {
    case nil: break
    case "sound": row("audit log", "its end is what its anchor counted")
    case "unknown": row("audit log", "its end is unknown: its anchor can't be read")
    default: row("audit log", "not sound", .error)
    }
    if let executable {
      row("fallback", "\(TerminalText.escape(executable)): the domain of this executable, where it states none")
    }
    if faults.isEmpty { row("faults", "none", .good) }
    for fault in faults { row("fault", TerminalText.escape(fault), .error) }
    if let next { row("next", next) }
    for path in paths {
      let why = path.why.isEmpty ? "" : " (\(TerminalText.escape(path.why)))"
      row(path.outcome, TerminalText.escape(ExplanationView.abbreviate(path.path, home: home)) + why)
    }
    var text = table.text(palette)
    if let userSet {
      text += "\n"
      if userSet.isEmpty {
        text += "No user-set key in a managed domain.\n"
      } else {
        text += "\(Count.text(userSet.count, "user-set key")) in managed domains:\n"
        var keys = TextTable([.left, .left, .left, .left], indent: 2)
        for key in userSet {
          keys.add([
            TextTable.Cell(TerminalText.escape(key.domain)), TextTable.Cell(TerminalText.escape(key.key)),
            TextTable.Cell(key.value),
            TextTable.Cell(TerminalText.escape(ExplanationView.abbreviate(key.path, home: home))),
          ])
        }
        text += keys.text(palette)
      }
    }
    return text
  }
}

/// Numbers with their nouns.
enum Count {
  /// `1 key`, `2 keys`, `2 policies`.
  static func text(_ number: Int, _ noun: String) -> String {
    if number == 1 { return "1 \(noun)" }
    return noun.utf8.last == UInt8(ascii: "y") && !noun.hasSuffix("key")
      ? "\(number) \(noun.dropLast())ies" : "\(number) \(noun)s"
  }
}
