public import PropertyList

/// The JSON form of a fleet report; Documentation/policyctl.md has the schema.
public enum FleetJSON {
  public static func document(_ fleet: FleetReport) -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.member("verdict", fleet.verdict.rawValue)
    ReportJSON.write(percentage: fleet.counts, to: &json)
    ReportJSON.write(fleet.counts, to: &json)
    json.key("expected")
    json.optional(fleet.expected.map { Int64($0) })
    json.member("reported", fleet.hostCount)
    json.key("missing")
    json.strings(fleet.missing)
    write("unknown", "host", "file", fleet.unknown, to: &json)
    write("unreadable", "file", "why", fleet.unreadable, to: &json)
    json.key("replaced")
    json.beginArray()
    for report in fleet.replaced {
      json.beginObject()
      json.member("file", report.file)
      json.member("host", report.host)
      json.member("user", report.user)
      json.key("made")
      json.optional(report.made.map(ReportJSON.moment))
      json.member("by", report.by)
      json.endObject()
    }
    json.endArray()
    json.key("hosts")
    json.beginArray()
    for row in fleet.rows { write(row, fleet, to: &json) }
    json.endArray()
    json.key("controls")
    json.beginArray()
    for control in fleet.controls { write(control, fleet, to: &json) }
    json.endArray()
    json.member("made", ReportJSON.moment(fleet.made))
    json.key("notes")
    json.strings(fleet.notes)
    json.endObject()
    return json
  }

  private static func write(
    _ member: String, _ name: String, _ why: String, _ list: [FleetReport.Named], to json: inout JSONWriter
  ) {
    json.key(member)
    json.beginArray()
    for named in list {
      json.beginObject()
      json.member(name, named.name)
      json.member(why, named.why)
      json.endObject()
    }
    json.endArray()
  }

  private static func write(_ row: FleetReport.Row, _ fleet: FleetReport, to json: inout JSONWriter) {
    json.beginObject()
    json.member("host", row.host)
    json.member("user", row.user)
    json.key("generation")
    json.optional(row.generation.map { Int64(clamping: $0) })
    ReportJSON.write(percentage: row.counts, to: &json)
    ReportJSON.write(row.counts, to: &json)
    json.member("verdict", row.verdict.rawValue)
    json.member("sources", row.sources)
    json.key("made")
    json.optional(row.made.map(ReportJSON.moment))
    json.member("file", row.file)
    json.endObject()
  }

  private static func write(_ control: FleetReport.Control, _ fleet: FleetReport, to json: inout JSONWriter) {
    json.beginObject()
    json.member("id", control.id)
    json.member("title", control.title)
    json.member("severity", control.severity)
    ReportJSON.write(control.counts, to: &json)
    json.key("findings")
    json.beginArray()
    for (row, message) in control.bad {
      json.beginObject()
      json.member("host", fleet.rows[row].host)
      json.member("user", fleet.rows[row].user)
      json.member("message", message)
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }
}
