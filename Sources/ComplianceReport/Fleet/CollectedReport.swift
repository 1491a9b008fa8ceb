import PropertyList

/// What a fleet report keeps of one host's report: who, when, and the result of each control.
struct CollectedReport: Sendable {
  /// The file that it was read from, by its name.
  var file: String
  /// As the report spells it.
  var host = ""
  var user = ""
  var generation: UInt64?
  /// Unix seconds; nil for a report that does not say when it was made, which counts as older than all that do.
  var made: Int64?
  /// `match`, `differ`, …; empty where the report does not say.
  var sources = ""
  /// What the report said as a whole. It can make the host worse than its controls do, never better.
  var statedVerdict: Verdict?
  var controls: [Control] = []

  struct Control: Sendable {
    var id: String
    var title: String
    var severity: String
    var result: ControlResult
    /// What is wrong, for failures and errors; empty for others.
    var message: String
  }

  var counts: ResultCounts { ResultCounts(controls.lazy.map(\.result)) }

  /// Counted again from the results.
  var verdict: Verdict {
    let own = Verdict(counts)
    switch statedVerdict {
    case .fail?, .error?, .incomplete?: return Verdict.worse(own, statedVerdict ?? own)
    case .pass?, .nothingChecked?, nil: return own
    }
  }
}

extension CollectedReport {
  /// Reads a file of `report --format json`, of one user or of several.
  ///
  /// A report whose results can't be told apart (an unknown word, a control twice) is refused whole: it would otherwise count
  /// for less than it says.
  ///
  /// - Complexity: O(bytes), at about a gigabyte a second.
  static func read(_ bytes: [UInt8], file: String) throws(JSONCursor.Fault) -> [CollectedReport] {
    let result = bytes.withUnsafeBytes { raw in
      Result { () throws(JSONCursor.Fault) in try read(raw, file: file) }
    }
    return try result.get()
  }

  private static func read(_ raw: UnsafeRawBufferPointer, file: String) throws(JSONCursor.Fault) -> [CollectedReport] {
    var cursor = JSONCursor(raw)
    // One pass: which of the two a file is shows by its members.
    var several: [CollectedReport]?
    let only = try report(&cursor, file) { (cursor) throws(JSONCursor.Fault) in
      var reports: [CollectedReport] = []
      try cursor.array { (cursor) throws(JSONCursor.Fault) in
        guard let report = try report(&cursor, file) else { throw cursor.fault("it has no controls: it is no report") }
        reports.append(report)
      }
      several = reports
    }
    try cursor.end()
    guard let reports = several ?? only.map({ [$0] }) else {
      throw cursor.fault("it has no controls: it is no report")
    }
    return reports
  }

  /// Reads one report.
  ///
  /// - Parameter several: reads the member `reports`; nil where there may be none.
  /// - Returns: nil for an object without controls.
  private static func report(
    _ cursor: inout JSONCursor, _ file: String, several: ((inout JSONCursor) throws(JSONCursor.Fault) -> Void)? = nil
  ) throws(JSONCursor.Fault) -> CollectedReport? {
    var report = CollectedReport(file: file)
    var hasControls = false
    try cursor.object(["host", "user", "generation", "controls", "made", "sources", "verdict", "reports"]) {
      (member, cursor) throws(JSONCursor.Fault) in
      switch member {
      case 0: report.host = try cursor.string()
      case 1: report.user = try cursor.string()
      case 2: report.generation = try cursor.optionalNumber()
      case 3:
        hasControls = true
        report.controls.reserveCapacity(64)
        try cursor.array { (cursor) throws(JSONCursor.Fault) in report.controls.append(try control(&cursor)) }
      case 4:
        guard let text = try cursor.optionalString() else { break }
        guard let date = PropertyListDate(rfc3339: text) else { throw cursor.fault("'made' is no moment") }
        report.made = Int64(date.unixTime.rounded(.down))
      case 5:
        try cursor.object(["state"]) { (_, cursor) throws(JSONCursor.Fault) in report.sources = try cursor.string() }
      case 6:
        let word = try cursor.string()
        guard let verdict = Verdict(rawValue: word) else { throw cursor.fault("the verdict is not known") }
        report.statedVerdict = verdict
      default:
        guard let several else { throw cursor.fault("reports stand in a report") }
        try several(&cursor)
      }
    }
    guard hasControls else { return nil }
    guard !report.host.isEmpty else { throw cursor.fault("it names no host") }
    var seen: Set<String> = []
    seen.reserveCapacity(report.controls.count)
    for control in report.controls where !seen.insert(control.id).inserted {
      throw cursor.fault("a control stands twice")
    }
    return report
  }

  private static func control(_ cursor: inout JSONCursor) throws(JSONCursor.Fault) -> Control {
    var control = Control(id: "", title: "", severity: "medium", result: .error, message: "")
    var hasResult = false
    var findings: Int?
    try cursor.object(["id", "title", "severity", "result", "findings"]) {
      (member, cursor) throws(JSONCursor.Fault) in
      switch member {
      case 0: control.id = try cursor.string()
      case 1: control.title = try cursor.string()
      case 2: control.severity = try cursor.string()
      case 3:
        guard let result = ControlResult(rawValue: try cursor.string()) else {
          throw cursor.fault("a result is not known")
        }
        control.result = result
        hasResult = true
      default:
        findings = cursor.index
        try cursor.skip()
      }
    }
    guard !control.id.isEmpty, hasResult else { throw cursor.fault("a control has no id or no result") }
    // Most controls pass: what was found of them is left unread.
    if let findings, control.result == .fail || control.result == .error {
      var again = cursor.at(findings)
      control.message = try message(&again)
    }
    return control
  }

  /// `org.example.Browser AllowNetwork: it is forced to another value`, of each finding that has a problem.
  private static func message(_ cursor: inout JSONCursor) throws(JSONCursor.Fault) -> String {
    var messages: [String] = []
    try cursor.array { (cursor) throws(JSONCursor.Fault) in
      var domain = ""
      var key = ""
      var message: String?
      try cursor.object(["domain", "key", "message"]) { (member, cursor) throws(JSONCursor.Fault) in
        switch member {
        case 0: domain = try cursor.string()
        case 1: key = try cursor.string()
        default: message = try cursor.optionalString()
        }
      }
      if let message { messages.append("\(domain) \(key): \(message)") }
    }
    return messages.joined(separator: "; ")
  }
}
