import CommandLineKit
import ComplianceReport
import LinuxFiles
import PropertyList

/// `report`: the controls of the policies, evaluated, with the evidence; of this host, of a time that is past, or of a fleet's
/// collected reports.
enum ReportVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "report", summary: "Evaluate the controls of the policies, and show the evidence.",
      flags: [
        Flag(
          "--format", value: "FORM", .choice(Form.allCases.map(\.rawValue)), "text (default), json, junit, html, csv"),
        Flag("--output", short: "-o", value: "FILE", .file, "write into FILE, which its owner alone can read"),
        Flag("--user", value: "NAME", .user, "in the place of NAME, with that user's preferences"),
        Flag("--all-users", "one report for each person of this host"),
        CommonFlags.host, CommonFlags.group, CommonFlags.instant, CommonFlags.policies, CommonFlags.bundle,
        Flag("--from", value: "TIME", .instant, "what held since TIME, by the audit log"),
        Flag("--to", value: "TIME", .instant, "until TIME; of a day, to its end (default: now)"),
        Flag("--collect", value: "DIR", .directory, "join the hosts' JSON reports in DIR"),
        Flag("--expect", value: "FILE", .file, "hosts of an inventory, or of a policy folder"),
      ],
      notes: [
        "A control that fails, or can't be evaluated, exits with 1. A TIME is 2026-12-01,",
        "'2026-12-01 09:30' of this machine's zone, or 2026-12-01T09:30:00+01:00.",
      ],
      example: "sudo policyctl report --format html -o report.html")
  }

  enum Form: String, CaseIterable {
    case text, json, junit, html, csv
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let form = call.arguments.value("--format").flatMap { Form(rawValue: $0) } ?? .text
    let output = call.arguments.value("--output")
    if let output { try OutputFile.requireTaking(output) }
    let palette = output == nil ? Terminal.palette(for: .output) : .plain
    if call.arguments.value("--from") != nil || call.arguments.value("--to") != nil {
      let (report, logStatus) = try HistorySite.report(call)
      try write(bytes(report, form, palette), to: output, summary: HistoryText.summary(report))
      return logStatus == .done ? exitCode(report.verdict) : logStatus
    }
    if let directory = call.arguments.value("--collect") {
      let fleet = try ReportCollection.fleet(call, in: directory)
      try write(bytes(fleet, form, palette), to: output, summary: FleetText.summary(fleet) + "\n")
      return exitCode(fleet.verdict)
    }
    if call.arguments.value("--expect") != nil {
      throw call.usage(.neededFlag(verb: "report", flag: "--collect", placeholder: "DIR"))
    }
    let site = try ReportSite(call)
    let reports = try site.subjects().map { site.report(for: $0) }
    try write(
      bytes(reports, form, palette, call), to: output,
      summary: reports.map { ReportText.summary($0) + "\n" }.joined())
    // Not even the controls are known.
    if reports.contains(where: { $0.isIncomplete && $0.controls.isEmpty }) { return .unavailable }
    return exitCode(ReportText.summaryVerdict(of: reports))
  }

  private static func exitCode(_ verdict: Verdict) -> ExitCode {
    switch verdict {
    case .pass, .nothingChecked: .done
    case .fail, .error, .incomplete: .no
    }
  }

  private static func bytes(_ fleet: FleetReport, _ form: Form, _ palette: Palette) -> [UInt8] {
    switch form {
    case .text: Array(FleetText(palette).text(fleet).utf8)
    case .json: FleetJSON.document(fleet).bytes + [UInt8(ascii: "\n")]
    case .junit: FleetJUnit.document(fleet)
    case .html: FleetHTML.document(fleet)
    case .csv: FleetCSV.document(fleet)
    }
  }

  private static func bytes(_ history: HistoryReport, _ form: Form, _ palette: Palette) -> [UInt8] {
    switch form {
    case .text: Array(HistoryText(palette).text(history).utf8)
    case .json: HistoryJSON.document(history).bytes + [UInt8(ascii: "\n")]
    case .junit: HistoryJUnit.document(history)
    case .html: HistoryHTML.document(history)
    case .csv: HistoryCSV.document(history)
    }
  }

  private static func bytes(
    _ reports: [HostReport], _ form: Form, _ palette: Palette, _ call: Invocation
  ) -> [UInt8] {
    switch form {
    case .text: return Array(text(reports, palette, call).utf8)
    case .json:
      let isTogether = call.arguments.has("--all-users")
      let json = isTogether ? ReportJSON.document(reports) : ReportJSON.document(reports[0])
      return json.bytes + [UInt8(ascii: "\n")]
    case .junit: return ReportJUnit.document(reports)
    case .html: return ReportHTML.document(reports)
    case .csv: return ReportCSV.document(reports)
    }
  }

  private static func text(_ reports: [HostReport], _ palette: Palette, _ call: Invocation) -> String {
    if reports.isEmpty { return "No person has an account on this host.\n" }
    return reports.map { report in
      ReportText(palette) { domain, key in
        call.command(["explain", domain, key] + context(of: report, call))
      }.text(report)
    }.joined(separator: "\n")
  }

  /// The flags that put the same question to `explain`.
  private static func context(of report: HostReport, _ call: Invocation) -> [String] {
    var words: [String] = []
    for flag in ["--host", "--user", "--at", "--policies", "--bundle"] {
      if let value = call.arguments.value(flag) { words += [flag, value] }
    }
    if call.arguments.has("--all-users"), report.userID != ProcessIdentity.realUserID {
      words += ["--user", report.user]
    }
    return words + call.arguments.values("--group").flatMap { ["--group", $0] }
  }

  private static func write(_ bytes: [UInt8], to path: String?, summary: String) throws(CommandFailure) {
    guard let path else { return try Output.print(bytes) }
    // Reasons and owners are in it.
    switch try OutputFile.write(bytes, to: path, mode: 0o600) {
    case .file: try Output.printDone(summary)
    case .stream: StandardStreams.writeError(summary)
    }
  }
}
