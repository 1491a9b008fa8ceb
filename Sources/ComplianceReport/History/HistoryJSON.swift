import AuditLog
public import PropertyList

/// The JSON form of a history; Documentation/policyctl.md has the schema.
public enum HistoryJSON {
  public static func document(_ report: HistoryReport) -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.member("host", report.host)
    write(report.span, to: &json)
    json.member("verdict", report.verdict.rawValue)
    ReportJSON.write(percentage: report.counts, to: &json)
    ReportJSON.write(report.counts, to: &json)
    json.member("attested", report.attestedPercentage)
    json.key("log")
    json.beginObject()
    json.member("verdict", "\(report.verification.verdict)")
    json.member("records", report.timeline.recordCount)
    json.key("head")
    json.optional(report.verification.head?.description)
    json.key("findings")
    json.strings(report.verification.findings.map(\.what))
    json.endObject()
    json.key("generations")
    json.beginArray()
    for stretch in report.timeline.stretches { write(stretch, report.timeline, to: &json) }
    json.endArray()
    json.key("gaps")
    json.beginArray()
    for gap in report.timeline.gaps {
      json.beginObject()
      json.member("kind", gap.kind.rawValue)
      write(gap.from..<gap.to, to: &json)
      json.key("record")
      json.optional(gap.record.map { Int64(clamping: $0) })
      json.member("text", gap.text)
      json.endObject()
    }
    json.endArray()
    json.key("users")
    json.beginArray()
    for user in report.users { write(user, to: &json) }
    json.endArray()
    json.key("events")
    json.beginArray()
    for event in report.timeline.events {
      json.beginObject()
      json.key("record")
      json.integer(event.record)
      json.member("time", ReportJSON.moment(event.time))
      json.member("kind", event.kind)
      json.member("text", event.text)
      json.endObject()
    }
    json.endArray()
    json.member("made", ReportJSON.moment(report.made))
    json.key("notes")
    json.strings(report.notes)
    json.endObject()
    return json
  }

  private static func write(_ span: Range<Int64>, to json: inout JSONWriter) {
    json.member("from", ReportJSON.moment(span.lowerBound))
    json.member("to", ReportJSON.moment(span.upperBound))
  }

  private static func write(
    _ stretch: PolicyTimeline.Stretch, _ timeline: PolicyTimeline, to json: inout JSONWriter
  ) {
    json.beginObject()
    write(stretch.span, to: &json)
    let digest = HistoryText.state(stretch, timeline).1
    var (word, generation, why): (String, UInt64?, String?) = ("nothing", nil, nil)
    switch stretch.state {
    case .inForce(let number): (word, generation) = ("in-force", number)
    case .nothing: break
    case .unknown(let text): (word, why) = ("unknown", text)
    }
    json.member("state", word)
    json.key("generation")
    json.optional(generation.map { Int64(clamping: $0) })
    json.key("sourceDigest")
    json.optional(digest)
    json.key("why")
    json.optional(why)
    json.endObject()
  }

  private static func write(_ user: UserHistory, to json: inout JSONWriter) {
    json.beginObject()
    json.member("user", user.user)
    json.key("userID")
    json.optional(user.userID.map { Int64($0) })
    ReportJSON.write(percentage: user.counts, to: &json)
    ReportJSON.write(user.counts, to: &json)
    json.key("controls")
    json.beginArray()
    for control in user.controls {
      json.beginObject()
      json.member("id", control.id)
      json.member("title", control.title)
      json.member("severity", control.severity)
      json.member("result", control.result.rawValue)
      json.member("attempts", control.attempts)
      json.key("results")
      json.beginArray()
      for stretch in control.stretches {
        json.beginObject()
        write(stretch.span, to: &json)
        json.key("generation")
        json.optional(stretch.generation.map { Int64(clamping: $0) })
        json.member("result", stretch.result.rawValue)
        json.member("why", stretch.why)
        json.endObject()
      }
      json.endArray()
      json.endObject()
    }
    json.endArray()
    json.key("points")
    json.beginArray()
    for point in user.points {
      json.beginObject()
      write(point.span, to: &json)
      json.key("generation")
      json.optional(point.generation.map { Int64(clamping: $0) })
      json.key("attested")
      json.boolean(point.isAttested)
      json.key("percentage")
      if let percentage = point.counts?.percentage { json.real(percentage) } else { json.null() }
      json.key("counts")
      if let counts = point.counts { ReportJSON.writeBare(counts, to: &json) } else { json.null() }
      json.endObject()
    }
    json.endArray()
    json.key("notes")
    json.strings(user.notes)
    json.endObject()
  }
}
