public import PropertyList

/// The JSON form of reports: `host`, `user`, `generation`, `percentage`, `controls` first, in this order, and what more
/// there is behind them. Documentation/policyctl.md has the schema.
public enum ReportJSON {
  public static func document(_ report: HostReport) -> JSONWriter {
    var json = JSONWriter(pretty: true)
    write(report, to: &json)
    return json
  }

  /// `{"reports": […]}`, one for each user of a host.
  public static func document(_ reports: [HostReport]) -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("reports")
    json.beginArray()
    for report in reports { write(report, to: &json) }
    json.endArray()
    json.endObject()
    return json
  }

  static func moment(_ instant: Int64) -> String { PropertyListDate(unixTime: Double(instant)).rfc3339 }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func write(_ report: HostReport, to json: inout JSONWriter) {
    json.beginObject()
    json.member("host", report.host)
    json.member("user", report.user)
    json.key("generation")
    json.optional(report.generation.map { Int64(clamping: $0) })
    write(percentage: report.counts, to: &json)
    json.key("controls")
    json.beginArray()
    for control in report.controls { write(control, generation: report.generation, to: &json) }
    json.endArray()
    json.member("verdict", report.verdict.rawValue)
    write(report.counts, to: &json)
    json.member("unusable", report.unusableCount)
    json.key("userID")
    json.optional(report.userID.map { Int64($0) })
    json.member("source", report.source)
    json.key("serial")
    json.optional(report.serial.map { Int64(clamping: $0) })
    json.key("sourceDigest")
    json.optional(report.sourceDigest.isEmpty ? nil : hexadecimal(report.sourceDigest))
    json.key("sources")
    json.beginObject()
    json.member("state", report.sources.state)
    json.member("text", report.sources.text)
    json.key("mistakes")
    json.strings(report.sources.mistakes)
    json.endObject()
    json.member("at", moment(report.instant))
    json.member("made", moment(report.made))
    json.key("idleExemptions")
    json.beginArray()
    for exemption in report.idleExemptions {
      json.beginObject()
      json.member("control", exemption.control)
      json.member("why", exemption.why)
      json.member("reason", exemption.reason)
      json.member("owner", exemption.owner)
      json.member("expires", exemption.expires.rfc3339)
      json.endObject()
    }
    json.endArray()
    json.key("faults")
    json.strings(report.faults)
    json.key("notes")
    json.strings(report.notes)
    json.endObject()
  }

  /// The exact quotient in JSON; rounding is for people.
  static func write(percentage counts: ResultCounts, to json: inout JSONWriter) {
    json.key("percentage")
    if let percentage = counts.percentage { json.real(percentage) } else { json.null() }
  }

  static func write(_ counts: ResultCounts, to json: inout JSONWriter) {
    json.key("counts")
    writeBare(counts, to: &json)
  }

  /// Without the member's name.
  static func writeBare(_ counts: ResultCounts, to json: inout JSONWriter) {
    json.beginObject()
    for result in ControlResult.allCases {
      json.key(result.rawValue)
      json.integer(counts[result])
    }
    json.endObject()
  }

  private static func write(_ control: ControlReport, generation: UInt64?, to json: inout JSONWriter) {
    json.beginObject()
    json.member("id", control.id)
    json.member("title", control.title)
    json.member("severity", control.severity)
    json.member("result", control.result.rawValue)
    json.key("findings")
    json.beginArray()
    for finding in control.findings { write(finding, generation: generation, to: &json) }
    json.endArray()
    json.key("references")
    json.strings(control.references)
    write("profile", control.profile, to: &json)
    json.key("exemption")
    if let exemption = control.exemption {
      json.beginObject()
      json.member("reason", exemption.reason)
      json.member("owner", exemption.owner)
      json.member("expires", exemption.expires.rfc3339)
      json.member("profile", exemption.profile)
      json.endObject()
    } else {
      json.null()
    }
    json.key("reason")
    json.optional(control.reason)
    json.endObject()
  }

  private static func write(_ key: String, _ profile: ReportedProfile, to json: inout JSONWriter) {
    json.key(key)
    json.beginObject()
    json.member("profile", profile.id)
    json.member("title", profile.title)
    json.endObject()
  }

  private static func write(_ finding: ControlFinding, generation: UInt64?, to json: inout JSONWriter) {
    json.beginObject()
    json.member("domain", finding.expectation.domain)
    json.member("key", finding.expectation.key)
    json.key("expected")
    if finding.isSecret { json.null() } else { json.value(finding.expectation.written) }
    json.key("value")
    if let value = finding.value, !finding.isSecret { json.value(value) } else { json.null() }
    json.key("layer")
    json.optional(finding.layer)
    json.key("forced")
    json.boolean(finding.isForced)
    json.key("forcedBy")
    json.beginArray()
    for profile in finding.forcedBy {
      json.beginObject()
      json.member("profile", profile.id)
      json.member("title", profile.title)
      json.key("generation")
      json.optional(generation.map { Int64(clamping: $0) })
      json.endObject()
    }
    json.endArray()
    json.key("type")
    json.optional(finding.value?.type.description)
    json.key("problem")
    json.optional(finding.problem?.rawValue)
    json.key("message")
    json.optional(finding.message)
    json.key("foundIn")
    json.optional(finding.foundIn)
    json.key("path")
    json.optional(finding.path)
    if finding.isSecret {
      json.key("secret")
      json.boolean(true)
    }
    json.endObject()
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ text: String) {
    key(name)
    string(text)
  }

  mutating func member(_ name: String, _ number: Int) {
    key(name)
    integer(number)
  }
}
