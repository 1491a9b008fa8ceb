import CommandLineKit
import ComplianceReport
import LinuxFiles
import PropertyList

/// `report`: the controls of the policies, evaluated, with the evidence.
enum ReportVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "report", summary: "Evaluate the controls of the policies, and show the evidence.",
      flags: [
        Flag("--format", value: "FORM", .choice(["text", "json"]), "text (default) or json"),
        Flag("--output", short: "-o", value: "FILE", .file, "write into FILE, which its owner alone can read"),
        Flag("--user", value: "NAME", .user, "in the place of NAME, with her preferences"),
        Flag("--all-users", "one report for each person of this host"),
        CommonFlags.host, CommonFlags.group, CommonFlags.instant, CommonFlags.policies, CommonFlags.bundle,
      ],
      notes: ["A control that fails, or can't be evaluated, exits with 1."],
      example: "sudo policyctl report --format json -o report.json")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let site = try ReportSite(call)
    let subjects = try site.subjects()
    let reports = subjects.map { site.report(for: $0) }
    let isTogether = call.arguments.has("--all-users")
    let output = call.arguments.value("--output")
    let bytes: [UInt8]
    switch call.arguments.value("--format") {
    case "json":
      let json = isTogether ? ReportJSON.document(reports) : ReportJSON.document(reports[0])
      bytes = json.bytes + [UInt8(ascii: "\n")]
    default:
      let palette = output == nil ? Terminal.palette(for: .output) : .plain
      bytes = Array(text(reports, palette, call).utf8)
    }
    try write(bytes, to: output, summary: reports.map { ReportText.summary($0) + "\n" }.joined())
    return exitCode(reports)
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
    switch try OutputFile.write(bytes, to: path, mode: 0o600) {
    case .file: try Output.print(summary)
    case .stream: StandardStreams.writeError(summary)
    }
  }

  /// A report without results says nothing good.
  private static func exitCode(_ reports: [HostReport]) -> ExitCode {
    if reports.contains(where: { $0.isIncomplete && $0.controls.isEmpty }) { return .unavailable }
    return reports.allSatisfy { $0.verdict == .pass || $0.verdict == .nothingChecked } ? .done : .no
  }
}
