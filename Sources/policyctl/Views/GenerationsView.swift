import CommandLineKit
import LinuxFiles
import PropertyList

/// `generations`, newest first.
struct GenerationsView {
  struct Row {
    var generation: UInt64
    var serial: UInt64?
    /// Unix seconds.
    var installed: Int64?
    var host: String?
    var isCurrent: Bool
    /// Why it can't be used; nil when it can.
    var fault: String?
  }

  var rows: [Row]

  init(_ rows: [Row]) { self.rows = rows }

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("generations")
    json.beginArray()
    for row in rows {
      json.beginObject()
      json.key("generation")
      json.integer(Int64(clamping: row.generation))
      json.key("serial")
      json.optional(row.serial.map { Int64(clamping: $0) })
      json.key("installed")
      json.optional(row.installed.map(InstantText.rfc3339))
      json.key("host")
      json.optional(row.host)
      json.key("current")
      json.boolean(row.isCurrent)
      json.key("fault")
      json.optional(row.fault)
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json
  }

  func text(_ palette: Palette, now: Int64) -> String {
    var table = TextTable([.right, .left, .left, .left, .left])
    table.add(["generation", "bundle", "host", "installed", ""])
    for row in rows {
      let note: TextTable.Cell =
        if let fault = row.fault {
          TextTable.Cell(TerminalText.escape(fault), .error)
        } else {
          row.isCurrent ? TextTable.Cell("in use", .good) : ""
        }
      table.add([
        TextTable.Cell(String(row.generation)), TextTable.Cell(row.serial.map { $0 == 0 ? "—" : String($0) } ?? "—"),
        TextTable.Cell(row.host.map { TerminalText.escape($0) } ?? "—"),
        TextTable.Cell(row.installed.map { InstantText.short($0, now: now) } ?? "—"), note,
      ])
    }
    return table.text(palette)
  }
}
