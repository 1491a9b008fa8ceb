import CommandLineKit
import LinuxFiles
import PropertyList

/// What an installation or a refresh has done.
struct InstallView {
  var generation: UInt64
  var serial: UInt64
  var host: String
  /// False where the same bundle was in force already.
  var isChanged: Bool
  /// Files of the generation in use that were damaged and were written again.
  var mended: [String] = []
  /// A refresh of what was installed, not a new bundle.
  var isRefresh = false
  var forcedKeys: Int
  var domains: Int
  /// Applications.
  var contained: Int
  var recommendedKeys: Int
  var windows: Int
  var nextEdge: Int64?
  /// The zone of the rule that has that edge; nil for an expiry.
  var nextEdgeZone: String?
  var faults: [String]
  var now: Int64

  /// `Installed generation 1 for lab-a-03: 12 forced keys in 3 domains, 2 recommended, 1 time window (next edge: …).`
  func text() -> String {
    if !mended.isEmpty {
      return
        "Generation \(generation) for \(TerminalText.escape(host)) stays in force; damaged files were written again: "
        + mended.map { TerminalText.escape($0) }.joined(separator: ", ") + ".\n"
    }
    if !isChanged {
      return "Generation \(generation) for \(TerminalText.escape(host)) is in force already; nothing was changed.\n"
    }
    var text = "\(isRefresh ? "Refreshed: generation" : "Installed generation") \(generation) for "
    text += "\(TerminalText.escape(host)): \(Count.text(forcedKeys, "forced key"))"
    if domains > 0 { text += " in \(Count.text(domains, "domain"))" }
    if recommendedKeys > 0 { text += ", \(recommendedKeys) recommended" }
    if contained > 0 { text += ", \(Count.text(contained, "contained application"))" }
    if windows > 0 { text += ", \(Count.text(windows, "time window"))" }
    if let nextEdge { text += " (next edge: \(InstantText.short(nextEdge, now: now, zone: nextEdgeZone)))" }
    return text + ".\n"
  }

  var jsonLine: [UInt8] { json().bytes + [UInt8(ascii: "\n")] }

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("generation")
    json.integer(generation)
    json.key("serial")
    json.integer(serial)
    json.key("host")
    json.string(host)
    json.key("changed")
    json.boolean(isChanged)
    json.key("forcedKeys")
    json.integer(forcedKeys)
    json.key("recommendedKeys")
    json.integer(recommendedKeys)
    json.key("domains")
    json.integer(domains)
    json.key("windows")
    json.integer(windows)
    json.key("nextEdge")
    json.optional(nextEdge.map(InstantText.rfc3339))
    json.key("faults")
    json.beginArray()
    for fault in faults { json.string(fault) }
    json.endArray()
    json.key("contained")
    json.integer(contained)
    json.endObject()
    return json
  }

  /// Faults go to standard error: the installation is done, and something about it needs attention.
  func reportFaults() {
    for fault in faults { Policyctl.warn(fault) }
  }
}
