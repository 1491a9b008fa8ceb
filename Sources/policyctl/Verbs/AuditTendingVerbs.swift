import AuditLog
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PropertyList

/// `audit prune`: old segments go, a checkpoint stays.
enum AuditPruneVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "prune", summary: "Remove old segments of the audit log, after a checkpoint that vouches for them.",
      flags: [
        Flag("--keep", value: "N", .number, "keep the newest N segments, whatever their age (default: 1)"),
        Flag("--before", value: "TIME", .instant, "keep segments with records of TIME or later"),
      ],
      notes: [
        "One of the two is needed. The newest segment always stays. Nothing is ever removed",
        "from the log but by this command. It verifies first, and ends like audit verify,",
        "without removing anything, where the log is not sound: that one is to be archived.",
      ],
      example: "sudo policyctl audit prune --keep 12")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    guard call.arguments.has("--keep") || call.arguments.has("--before") else {
      throw call.usage(.neededFlag(verb: call.verb.name, flag: "--keep", placeholder: "N"))
    }
    let date = try InstantArgument("--before", of: call).map { PropertyListDate(unixTime: $0.begin) }
    let place = AuditSite(call.installation()).place
    let verified = try requireSound(place, call)
    let done: AuditLog.Pruning
    do throws(AuditLogError) {
      done = try AuditLog(place).prune(
        keeping: Int(clamping: call.arguments.number("--keep") ?? 1), before: date, verifiedThrough: verified)
    } catch {
      throw CommandFailure(error, of: call)
    }
    guard let records = done.records else {
      try Output.print("Nothing is that old; nothing was removed.\n")
      return .done
    }
    try Output.printDone(
      "Removed records \(records.lowerBound) to \(records.upperBound) in \(Count.text(done.segments, "segment")); a checkpoint tells of them.\n"
    )
    return .done
  }
}

extension AuditPruneVerb {
  /// A checkpoint vouches for what is removed: what did not verify would be sound from then on.
  /// - Returns: the number of the last record.
  private static func requireSound(_ place: AuditLogPlace, _ call: Invocation) throws(CommandFailure) -> UInt64 {
    let progress = VerificationProgress()
    let verification = AuditVerification(of: place, progress: progress.update)
    if verification.verdict == .sound { return verification.head?.sequence ?? 0 }
    if verification.records == 0, verification.verdict == .incomplete { throw AuditShowVerb.nothing(place) }
    let view = AuditVerdictView(verification: verification, directory: place.directory)
    StandardStreams.writeError(view.text(Terminal.palette(for: .errors)))
    throw CommandFailure(
      view.exitCode, "nothing was removed: a checkpoint would vouch for what did not verify; archive the log",
      next: [AuditArchive.command(place, call)])
  }
}

/// `audit erase`: who and what goes, the records stay.
enum AuditEraseVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "erase", summary: "Erase from the audit log what a user did, and that it was that user.",
      flags: [
        Flag("--user", value: "NAME", .user, "the user NAME, or the user id"),
        Flag("--reason", value: "TEXT", .text, "for the log; it should name nobody"), Flag("--yes", "do not ask"),
      ],
      notes: ["The records stay, with their time and kind, and the log verifies as before."],
      example: "sudo policyctl audit erase --user nobody --reason 'request 17' --yes")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    guard let name = call.arguments.value("--user"), let user = try AuditFilter.user(call) else {
      throw call.usage(.neededFlag(verb: call.verb.name, flag: "--user", placeholder: "NAME"))
    }
    guard let reason = call.arguments.value("--reason") else {
      throw call.usage(.neededFlag(verb: call.verb.name, flag: "--reason", placeholder: "TEXT"))
    }
    if !call.arguments.has("--yes") {
      guard StandardStreams.isInputTerminal else {
        throw CommandFailure(
          .usage, "what user \(TerminalText.escape(name)) did would be lost", next: call.again(adding: "--yes"))
      }
      StandardStreams.writeError(
        "What user \(TerminalText.escape(name)) did will be lost. Type \(TerminalText.escape(name)) to go on: ")
      guard readLine() == name else {
        Policyctl.note("nothing was changed")
        return .no
      }
    }
    let count: Int
    do throws(AuditLogError) {
      count = try AuditLog(AuditSite(call.installation()).place).erase(reason: reason) { $0 == user }
    } catch {
      throw CommandFailure(error, of: call)
    }
    try Output.printDone("Erased the personal parts of \(Count.text(count, "record")).\n")
    return .done
  }
}
