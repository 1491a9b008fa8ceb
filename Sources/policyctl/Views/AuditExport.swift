import AuditLog
import PropertyList

/// The audit log as one file.
struct AuditExport {
  let records: [StoredRecord]
  let head: LogHead
  /// What `audit verify` said when the file was made.
  let verdict: String
  /// Unix seconds.
  let made: Int64

  /// One document. Each line of the log stands on a line of its own, byte for byte, so that its digest can be taken again;
  /// personal parts follow, by number.
  func json() -> [UInt8] {
    var top = JSONWriter(pretty: false)
    top.beginObject()
    top.key("made")
    top.string(InstantText.rfc3339(made))
    top.key("verdict")
    top.string(verdict)
    top.key("head")
    AuditVerdictView.write(head, to: &top)
    top.key("personal")
    top.beginArray()
    for record in records where record.personal == .present { AuditView.write(record, to: &top) }
    top.endArray()
    top.endObject()
    var bytes = Array(top.bytes.dropLast()) + Array(",\"lines\":[\n".utf8)
    for (index, record) in records.enumerated() {
      bytes += record.line
      bytes += Array((index + 1 < records.count ? ",\n" : "\n").utf8)
    }
    return bytes + Array("]}\n".utf8)
  }

  static let columns = [
    "seq", "time", "kind", "host", "clock", "attested uid", "attested pid", "attested executable", "claimed uid",
    "claimed pid", "claimed executable", "fields", "personal", "prev",
  ]

  /// RFC 4180, with a first line of names.
  func csv() -> [UInt8] {
    var text = Self.columns.joined(separator: ",") + "\r\n"
    for record in records {
      var cells = [
        String(record.sequence), record.timeText, record.kind, record.host ?? "", record.clock.map { "\($0)" } ?? "",
      ]
      for members in [record.attested, record.claimed] {
        cells += ["uid", "pid", "executable"].map { name in members?[name].map(Self.plain) ?? "" }
      }
      var json = JSONWriter(pretty: false)
      json.value(.dictionary(record.fields))
      cells += [String(decoding: json.bytes, as: UTF8.self), AuditView.personal(record), record.previousText]
      text += cells.map(Self.cell).joined(separator: ",") + "\r\n"
    }
    return Array(text.utf8)
  }

  private static func plain(_ value: PropertyListValue) -> String {
    switch value {
    case .string(let text): text
    case .integer(let number): number.description
    default: value.displayText
    }
  }

  /// A text that a spreadsheet would take for a formula begins with an apostrophe.
  static func cell(_ text: String) -> String {
    var text = text
    if let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first), Double(text) == nil {
      text = "'" + text
    }
    guard text.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return text }
    return "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
  }
}
