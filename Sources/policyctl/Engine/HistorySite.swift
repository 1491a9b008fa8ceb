import AuditLog
import CommandLineKit
import ComplianceReport
import Digests
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// `report --from TIME --to TIME`: the log, verified first, and the generations that are kept.
enum HistorySite {
  /// The history, and the exit status that the log's verification alone asks for.
  static func report(_ call: Invocation) throws(CommandFailure) -> (report: HistoryReport, logStatus: ExitCode) {
    for flag in ["--host", "--group", "--at", "--policies", "--bundle", "--collect", "--expect"]
    where call.arguments.value(flag) != nil || !call.arguments.values(flag).isEmpty {
      throw call.usage(.excludedFlags(verb: "report", "--from", flag))
    }
    if call.arguments.has("--all-users"), call.arguments.value("--user") != nil {
      throw call.usage(.excludedFlags(verb: "report", "--all-users", "--user"))
    }
    let span = try self.span(call)
    let installation = call.installation()
    let place = AuditSite(installation).place
    let verification = try verify(place, call)
    let records = try self.records(place, verification, call)
    guard !records.isEmpty else { throw AuditShowVerb.nothing(place) }
    let marker: GenerationMarker?
    do throws(DomainFault) { marker = try ForcedDomainLoader(installation).marker() } catch {
      throw CommandFailure(
        .unavailable, TerminalText.escape(error.description), next: call.command(privileged: true, "refresh"))
    }
    let timeline = PolicyTimeline(records, over: span, marker: marker, isTrusted: installation.isTrustedOwner)
    var progress = ProgressLine("Evaluating")
    let report = HistoryReport(
      host: verification.head?.host ?? marker?.hostName ?? HostName.ofThisSystem(), made: WallClock.unixSeconds(),
      verification: verification, timeline: timeline, subjects: try subjects(call, installation),
      isAboutAll: call.arguments.has("--all-users"), policy: { policy($0, installation) },
      progress: { progress.update($0, of: $1) })
    return (report, AuditVerdictView(verification: verification, directory: place.directory).exitCode)
  }

  /// From the first moment to the last, which is not included and is now where none is given, or a day that is not over.
  private static func span(_ call: Invocation) throws(CommandFailure) -> Range<Int64> {
    guard let first = try InstantArgument("--from", of: call) else {
      throw call.usage(.neededFlag(verb: "report", flag: "--from", placeholder: "TIME"))
    }
    let now = WallClock.unixSeconds()
    var to = now
    if let last = try InstantArgument("--to", of: call) {
      guard last.beginSecond <= now else {
        throw refusal("--to '\(TerminalText.escape(last.text))' is still to come: the log can't tell of it")
      }
      to = min(last.endSecond, now)
    }
    guard first.beginSecond < to else {
      throw refusal("--from '\(TerminalText.escape(first.text))' is not before the end")
    }
    return first.beginSecond..<to
  }

  private static func refusal(_ message: String) -> CommandFailure {
    var failure = CommandFailure(.usage, message, next: "\(Policyctl.name) report --help")
    failure.verb = "report"
    return failure
  }

  /// A log that was tampered with gives no evidence: the verb ends as `audit verify` does.
  private static func verify(
    _ place: AuditLogPlace, _ call: Invocation
  ) throws(CommandFailure) -> AuditVerification {
    do throws(FileError) { _ = try Directory.names(in: place.directory) } catch {
      switch error.errno {
      // Whether one belongs here tells the anchor.
      case .noSuchFile: break
      case .permissionDenied:
        throw CommandFailure(
          .notPermitted, "the audit log can be read by root and the group \(AuditSite.auditorsGroup) only",
          next: call.again(privileged: true))
      default: throw CommandFailure(error, while: .reading)
      }
    }
    let progress = VerificationProgress()
    let verification = AuditVerification(of: place, progress: progress.update)
    if verification.verdict == .incomplete, verification.segments == 0 { throw AuditShowVerb.nothing(place) }
    if verification.verdict == .tampered || verification.records == 0, verification.verdict != .sound {
      let view = AuditVerdictView(verification: verification, directory: place.directory)
      StandardStreams.writeError(view.text(Terminal.palette(for: .errors)))
      throw CommandFailure(
        view.exitCode, "the audit log proves nothing, so there is no report",
        next: call.command(privileged: true, "audit", "verify"))
    }
    return verification
  }

  /// The records up to the end that was verified.
  private static func records(
    _ place: AuditLogPlace, _ verification: AuditVerification, _ call: Invocation
  ) throws(CommandFailure) -> [StoredRecord] {
    guard let head = verification.head else { return [] }
    var records: [StoredRecord] = []
    var isSame = false
    do throws(AuditLogError) {
      try LogReader(place).forEachRecord { record throws(AuditLogError) in
        guard record.sequence <= head.sequence else { return }
        if record.sequence == head.sequence { isSame = SHA256.digest(of: record.line) == head.hash }
        records.append(record)
      }
    } catch {
      throw CommandFailure(error, of: call)
    }
    guard isSame, records.count == verification.records else {
      throw CommandFailure(.unavailable, "the audit log changed while it was being read", next: call.again())
    }
    return records
  }

  private static func policy(_ generation: UInt64, _ installation: Installation) -> HistoryReport.Policy {
    do throws(InstallError) {
      guard let kept = try KeptGeneration(generation, of: installation) else {
        return .unavailable("it is no longer kept")
      }
      return .kept(marker: kept.marker, forced: kept.forced, provenance: kept.provenance)
    } catch {
      return .unavailable("it can't be read: \(error.description)")
    }
  }

  private static func subjects(
    _ call: Invocation, _ installation: Installation
  ) throws(CommandFailure) -> [HistoryReport.Subject] {
    let subjects: [ReportSubject]
    if call.arguments.has("--all-users") {
      var provenance: ForcedDomain?
      if case .available(let domain) = ForcedDomainLoader(installation).loadProvenance() { provenance = domain }
      subjects = ReportSubject.persons(in: provenance)
    } else if let name = call.arguments.value("--user") {
      subjects = [try .named(name, isWhatIf: false)]
    } else {
      subjects = [.caller()]
    }
    return subjects.map { subject in
      HistoryReport.Subject(user: subject.name, userID: subject.userID, failure: subject.failure) {
        file, host, instant in
        subject.context(over: file, host: host, groups: [], at: instant)
      }
    }
  }
}
