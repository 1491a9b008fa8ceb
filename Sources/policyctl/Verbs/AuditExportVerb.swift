import AuditLog
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PropertyList

/// `audit export`: the log in one file.
enum AuditExportVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "export",
      summary: "Write the audit log into one file: for programs, for a table, or to be read.",
      flags: [
        Flag("--format", value: "FORM", .choice(["json", "csv", "html"]), "json (default), csv or html"),
        Flag("--output", short: "-o", value: "FILE", .file, "where it goes"),
        Flag("--without-personal", "leave out who did it and what, where it is about a person"),
      ],
      notes: [
        "json and html hold the lines as they are, so that the chain can be verified from",
        "the file alone; the html page does that itself.",
      ],
      example: "sudo policyctl audit export --format html -o audit.html")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    guard let output = call.arguments.value("--output") else {
      throw call.usage(.neededFlag(verb: call.verb.name, flag: "-o", placeholder: "FILE"))
    }
    let place = AuditSite(call.installation()).place
    let pieces = try OutputPieces(to: output, mode: 0o600)
    let verification = AuditVerification(of: place)
    var found: AuditExport?
    do throws(AuditLogError) {
      found = try AuditExport(
        of: place, withPersonal: !call.arguments.has("--without-personal"), verification: verification,
        made: WallClock.unixSeconds())
      switch call.arguments.value("--format") {
      case "csv": try found?.csv(into: pieces)
      case "html": try found?.page(into: pieces)
      default: try found?.json(into: pieces)
      }
    } catch {
      throw CommandFailure(error, of: call)
    }
    guard let export = found else { throw AuditShowVerb.nothing(place) }
    let outcome = try pieces.finish()
    let text = "Wrote \(Count.text(export.count, "record")) into \(TerminalText.escape(output)).\n"
    switch outcome {
    case .file: try Output.printDone(text)
    case .stream: StandardStreams.writeError(text)
    }
    if verification.verdict != .sound {
      Policyctl.warn(
        "the log is not sound (\(verification.verdict)); the export says so",
        next: [call.command(privileged: true, "audit", "verify")])
    }
    return .done
  }
}
