import AuditLog
import CommandLineKit
import ForcedDomain
import LinuxFiles

/// `audit acknowledge`: somebody has looked into the alarms.
enum AuditAcknowledgeVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "acknowledge", summary: "Say that the alarms of the audit log were looked into; they stay in it.",
      flags: [Flag("--reason", value: "TEXT", .text, "what was found out, for the log")],
      notes: [
        "audit verify fails until then. What else does not verify, no acknowledgement",
        "mends: it is named, and the status is that of audit verify.",
      ],
      example: "sudo policyctl audit acknowledge --reason 'a disk was exchanged'")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    guard let reason = call.arguments.value("--reason") else {
      throw call.usage(.neededFlag(verb: call.verb.name, flag: "--reason", placeholder: "TEXT"))
    }
    let place = AuditSite(call.installation()).place
    let done: Bool
    do throws(AuditLogError) { done = try AuditLog(place).acknowledge(reason: reason) } catch {
      throw CommandFailure(error, of: call)
    }
    let progress = VerificationProgress()
    let verification = AuditVerification(of: place, progress: progress.update)
    if done { try Output.printDone("The alarms are acknowledged; the log tells of it.\n") }
    let view = AuditVerdictView(verification: verification, directory: place.directory)
    guard let finding = view.firstFinding else {
      if !done { try Output.print("There is no alarm.\n") }
      return .done
    }
    let what =
      done ? "the audit log does not verify all the same" : "there is no alarm, but the audit log does not verify"
    throw CommandFailure(
      view.exitCode, "\(what): \(finding); no acknowledgement mends that, so keep a copy, and begin anew behind it",
      next: [
        call.command(privileged: true, "audit", "verify"), AuditArchive.command(place, call),
        call.command(privileged: true, "audit", "set-aside", "--reason") + " TEXT",
      ])
  }
}

/// `audit set-aside`: what does not verify goes into a folder of its own, and the log goes on behind it.
enum AuditSetAsideVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "set-aside", summary: "Set aside an audit log that does not verify, as it is, and begin anew behind it.",
      flags: [Flag("--reason", value: "TEXT", .text, "what was found out, for the log")],
      notes: [
        "Its files go into a folder beside; the first record of what follows names the folder",
        "and the digest of its SHA256SUMS, and audit verify goes on telling of it. A log that",
        "verifies, or has nothing but alarms that nobody acknowledged, stays as it is.",
      ],
      example: "sudo policyctl audit set-aside --reason 'record 7 was edited, ticket 17'")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    guard let reason = call.arguments.value("--reason") else {
      throw call.usage(.neededFlag(verb: call.verb.name, flag: "--reason", placeholder: "TEXT"))
    }
    let place = AuditSite(call.installation()).place
    let progress = VerificationProgress()
    let verification = AuditVerification(of: place, progress: progress.update)
    let view = AuditVerdictView(verification: verification, directory: place.directory)
    guard let finding = view.firstFinding else {
      try Output.print("The audit log verifies; it stays as it is.\n")
      return .done
    }
    if verification.segments == 0, verification.verdict == .incomplete { throw AuditShowVerb.nothing(place) }
    if verification.more == 0, verification.findings.allSatisfy(\.isAlarm) {
      throw CommandFailure(
        .no,
        "nothing was set aside: the audit log has nothing against it but alarms that nobody acknowledged: \(finding)",
        next: call.command(privileged: true, "audit", "acknowledge", "--reason") + " TEXT")
    }
    let done: SettingAside
    let end: AuditEnd
    do throws(AuditLogError) {
      done = try AuditLog(place).setAside(finding: finding, reason: reason)
      end = try AuditEnd(of: place)
    } catch {
      throw CommandFailure(error, of: call)
    }
    var text =
      "Set aside records up to \(done.through), as they were: \(Count.text(done.files, "file")) in \(done.folder).\n"
    text += "Record \(done.through + 1) names the folder, and the digest of its SHA256SUMS.\n"
    if let head = end.head {
      text += "Keep this line on another machine; later: policyctl audit verify --against LINE\n\(head)\n"
    }
    try Output.printDone(text)
    return .done
  }
}

/// A copy of a log as it is, for whoever looks into it.
enum AuditArchive {
  /// The command that makes one in the present folder, with paths from the root on: they can be looked at below another root.
  static func command(_ place: AuditLogPlace, _ call: Invocation) -> String {
    let root = call.installation().root
    func inside(_ path: String) -> String { String(path.dropFirst(root.count + 1)) }
    return ShellWord.join(
      (call.root == nil ? ["sudo"] : [])
        + [
          "tar", "-C", root.isEmpty ? "/" : root, "-cf", "audit-log.tar", inside(place.directory), inside(place.anchor),
        ])
  }
}
