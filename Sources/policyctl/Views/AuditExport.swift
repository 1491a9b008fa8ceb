import AuditLog
import CommandLineKit
import LinuxFiles
import PropertyList

/// The audit log as one file, written record by record: a log of any size takes the memory of a segment. Forms that say
/// things in more than one order read the log more than once, always up to the same record.
struct AuditExport {
  let place: AuditLogPlace
  /// Whether parts about persons are in it.
  let withPersonal: Bool
  let head: LogHead
  /// The numbers of the records, in the order of the log: more than one stretch where some were lost.
  let ranges: [ClosedRange<UInt64>]
  let count: Int
  /// What `audit verify` said when the file was made.
  let verdict: String
  /// What it said beside that.
  let notes: [String]
  /// Unix seconds.
  let made: Int64

  /// nil: there are no records.
  init?(of place: AuditLogPlace, withPersonal: Bool, verification: AuditVerification, made: Int64) throws(AuditLogError)
  {
    guard let head = try LogReader(place).head() else { return nil }
    var count = 0
    var ranges: [ClosedRange<UInt64>] = []
    var log: String?
    try LogReader(place).forEachRecord(through: head.sequence) { record throws(AuditLogError) in
      count += 1
      if record.kind.hasPrefix("audit.") { log = record.fields["log"]?.stringValue ?? log }
      if let last = ranges.last, record.sequence > 0, last.upperBound == record.sequence - 1 {
        ranges[ranges.count - 1] = last.lowerBound...record.sequence
      } else {
        ranges.append(record.sequence...record.sequence)
      }
    }
    guard !ranges.isEmpty else { return nil }
    self.place = place
    self.withPersonal = withPersonal
    // Who may not read the anchor has the log's id from its records.
    self.head = LogHead(
      host: head.host, log: head.log ?? log, sequence: head.sequence, hash: head.hash, time: head.time)
    self.ranges = ranges
    self.count = count
    verdict = "\(verification.verdict)"
    notes = verification.notes
    self.made = made
  }

  /// Hands over the same records at every call, or fails.
  func forEachRecord(_ body: (StoredRecord) -> Void) throws(AuditLogError) {
    var seen = 0
    try LogReader(place).forEachRecord(from: ranges[0].lowerBound, through: head.sequence) {
      record throws(AuditLogError) in
      seen += 1
      body(withPersonal ? record : record.withoutPersonalPart)
    }
    // Retention, between two readings.
    if seen != count { throw AuditLogError(.busy, path: place.directory) }
  }

  /// One document. Each line of the log stands on a line of its own, byte for byte, so that its digest can be taken again;
  /// so does each personal part that is there. The records as they are read follow where they have a personal part.
  func json(into output: OutputPieces) throws(AuditLogError) {
    var json = JSONWriter(pretty: false)
    json.beginObject()
    json.key("made")
    json.string(InstantText.rfc3339(made))
    json.key("verdict")
    json.string(verdict)
    json.key("head")
    AuditVerdictView.write(head, to: &json)
    json.key("personal")
    json.beginArray()
    try forEachRecord { record in
      guard record.personal == .present else { return }
      AuditView.write(record, to: &json)
      output.add(json.drain())
    }
    json.endArray()
    output.add(json.drain())
    try list("parts", into: output) { $0.personalPart }
    try list("lines", into: output) { $0.line }
    output.add("}\n")
  }

  private func list(
    _ name: String, into output: OutputPieces, _ line: (StoredRecord) -> [UInt8]?
  ) throws(AuditLogError) {
    output.add(",\"\(name)\":[")
    var isFirst = true
    try forEachRecord { record in
      guard let bytes = line(record) else { return }
      output.add(isFirst ? "\n" : ",\n")
      output.add(bytes)
      isFirst = false
    }
    output.add("\n]")
  }

  static let columns = [
    "seq", "time", "kind", "host", "clock", "attested uid", "attested pid", "attested executable", "claimed uid",
    "claimed pid", "claimed executable", "claimed time", "unattested uid", "unattested origin", "fields", "personal",
    "prev",
  ]

  /// RFC 4180, with a first line of names.
  func csv(into output: OutputPieces) throws(AuditLogError) {
    output.add(Self.columns.joined(separator: ",") + "\r\n")
    try forEachRecord { record in
      var cells = [
        String(record.sequence), record.timeText, record.kind, record.host ?? "", record.clock.map { "\($0)" } ?? "",
      ]
      func add(_ members: [String: PropertyListValue]?, _ names: String...) {
        cells += names.map { members?[$0].map(Self.plain) ?? "" }
      }
      add(record.attested, "uid", "pid", "executable")
      add(record.claimed, "uid", "pid", "executable", "time")
      add(record.unattested, "uid", "origin")
      var json = JSONWriter(pretty: false)
      json.value(.dictionary(record.fields))
      cells += [String(decoding: json.bytes, as: UTF8.self), AuditView.personal(record), record.previousText]
      output.add(cells.map(Self.cell).joined(separator: ",") + "\r\n")
    }
  }

  private static func plain(_ value: PropertyListValue) -> String {
    switch value {
    case .string(let text): text
    case .integer(let number): number.description
    default: value.displayText
    }
  }

  /// What could act on a terminal is escaped as `audit show` does. A text that a spreadsheet would take for a formula begins
  /// with an apostrophe.
  static func cell(_ text: String) -> String {
    var text = TerminalText.escape(text)
    if let first = text.unicodeScalars.first, "=+-@".unicodeScalars.contains(first), Double(text) == nil {
      text = "'" + text
    }
    guard text.unicodeScalars.contains(where: { ",\"".unicodeScalars.contains($0) }) else { return text }
    return "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
  }
}
