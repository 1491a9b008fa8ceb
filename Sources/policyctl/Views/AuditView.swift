import AuditLog
import CommandLineKit
import LinuxFiles
import PropertyList

/// Records for people, a line each, and for programs.
struct AuditView {
  private var names: [UInt32: String] = [:]

  /// `   12  2026-11-30T07:02:11Z  policy.installed   root   generation=3 …`. Nothing in it can act on a terminal.
  mutating func line(_ record: StoredRecord, _ palette: Palette) -> String {
    let number = String(record.sequence)
    var text = String(repeating: " ", count: max(0, 6 - number.utf8.count)) + number
    let time = PropertyListDate(unixTime: record.time.unixTime.rounded(.down)).rfc3339
    text += "  " + palette.paint(time, .faint) + "  "
    let kind = TextTable.pad(TerminalText.escape(record.kind), to: 18)
    let style: TextStyle =
      switch record.kind {
      case "audit.alarm", "policy.refused", "domain.damaged": .error
      case "forced.write", "identity.unknown", "audit.recovered", "audit.dropped", "events.dropped": .warning
      default: .strong
      }
    text += palette.paint(kind, style) + "  " + TextTable.pad(who(record), to: 10)
    let details = Self.details(record)
    if !details.isEmpty { text += "  " + details }
    while text.hasSuffix(" ") { text.removeLast() }
    return text + "\n"
  }

  /// The user's name; with `?` where only the process said so.
  private mutating func who(_ record: StoredRecord) -> String {
    if record.personal == .erased { return "erased" }
    guard let user = record.userID else { return "-" }
    let name =
      names[user] ?? ((try? UserDatabase.user(id: user)) ?? nil).map { TerminalText.escape($0.name) } ?? "\(user)"
    names[user] = name
    return record.attested == nil ? name + "?" : name
  }

  private static func details(_ record: StoredRecord) -> String {
    var parts = record.fields.keys.sorted().map { name in
      "\(TerminalText.escape(name))=\(record.fields[name]!.displayText)"
    }
    if let clock = record.clock { parts.append("clock=\(clock)") }
    return parts.joined(separator: " ")
  }

  /// One record as an object.
  static func write(_ record: StoredRecord, to json: inout JSONWriter) {
    json.beginObject()
    json.key("seq")
    json.integer(record.sequence)
    json.key("time")
    json.string(record.timeText)
    json.key("kind")
    json.string(record.kind)
    json.key("host")
    json.optional(record.host)
    for (name, members) in [
      ("attested", record.attested), ("claimed", record.claimed), ("unattested", record.unattested),
    ] {
      json.key(name)
      if let members { json.value(.dictionary(members)) } else { json.null() }
    }
    json.key("fields")
    json.value(.dictionary(record.fields))
    json.key("personal")
    json.string(personal(record))
    json.endObject()
  }

  static func personal(_ record: StoredRecord) -> String {
    switch record.personal {
    case .none: "none"
    case .present: "present"
    case .erased: "erased"
    }
  }
}

/// What a verification found.
struct AuditVerdictView {
  let verification: AuditVerification
  let directory: String

  func text(_ palette: Palette) -> String {
    var text = ""
    for finding in verification.findings {
      let (place, words) = Self.parts(of: finding, in: directory)
      text += palette.paint(place + ":", .place) + " \(words)\n"
    }
    if verification.more > 0 { text += "… and \(verification.more) more\n" }
    text += palette.paint(verdict, verification.verdict == .sound ? .good : .error) + "\n"
    for note in verification.notes { text += "note: \(TerminalText.escape(note))\n" }
    if verification.erased > 0 {
      text += "note: the personal parts of \(Count.text(verification.erased, "record")) were erased\n"
    }
    if verification.verdict == .sound, let head = verification.head {
      text += "Keep this line on another machine; later: policyctl audit verify --against LINE\n\(head)\n"
    }
    return text
  }

  /// The first thing that is wrong, in one line; nil where nothing is.
  var firstFinding: String? {
    verification.findings.first.map { finding in
      let (place, words) = Self.parts(of: finding, in: directory)
      return "\(place): \(words)"
    }
  }

  private static func parts(
    of finding: AuditVerification.Finding, in directory: String
  ) -> (place: String, words: String) {
    var place = finding.file.map { FilePath.join(directory, $0) } ?? directory
    if let line = finding.line { place += ":\(line)" }
    let record = finding.sequence.map { "record \($0): " } ?? ""
    return (TerminalText.escape(place), record + TerminalText.escape(finding.what))
  }

  private var verdict: String {
    let extent = "\(Count.text(verification.records, "record")) in \(Count.text(verification.segments, "segment"))"
    return switch verification.verdict {
    case .sound: "Sound: \(extent), as they were written, as far as this host can tell."
    case .tampered: "Tampered with: \(extent); see above."
    case .incomplete: "Incomplete: \(extent); what is there is sound, but it may not be all."
    case .undecided: "Undecided: \(extent) were read; the rest can't be."
    }
  }

  var exitCode: ExitCode {
    switch verification.verdict {
    case .sound: .done
    case .tampered: .no
    case .incomplete: .noInput
    case .undecided: .unavailable
    }
  }

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("verdict")
    json.string("\(verification.verdict)")
    json.key("records")
    json.integer(verification.records)
    json.key("segments")
    json.integer(verification.segments)
    json.key("first")
    if let first = verification.first { json.integer(first) } else { json.null() }
    json.key("head")
    if let head = verification.head { Self.write(head, to: &json) } else { json.null() }
    json.key("erased")
    json.integer(verification.erased)
    json.key("findings")
    json.beginArray()
    for finding in verification.findings {
      json.beginObject()
      json.key("verdict")
      json.string("\(finding.verdict)")
      json.key("file")
      json.optional(finding.file)
      json.key("line")
      json.optional(finding.line.map { Int64($0) })
      json.key("seq")
      if let number = finding.sequence { json.integer(number) } else { json.null() }
      json.key("what")
      json.string(finding.what)
      json.endObject()
    }
    json.endArray()
    json.key("moreFindings")
    json.integer(verification.more)
    json.key("notes")
    json.strings(verification.notes)
    json.endObject()
    return json
  }

  static func write(_ head: LogHead, to json: inout JSONWriter) {
    json.beginObject()
    json.key("host")
    json.optional(head.host)
    json.key("log")
    json.optional(head.log)
    json.key("seq")
    json.integer(head.sequence)
    json.key("sha256")
    json.string(head.hashText)
    json.key("time")
    json.optional(head.timeText)
    json.endObject()
  }
}
