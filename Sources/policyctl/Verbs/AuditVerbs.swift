import AuditLog
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PropertyList

/// `audit verify`: whether the log is what was written.
enum AuditVerifyVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "verify", summary: "Tell whether the audit log is what was written, and name the first bad record.",
      flags: [
        Flag("--against", value: "LINE", .text, repeats: true, "a line of audit head, or a file with such lines"),
        CommonFlags.format,
      ],
      notes: [
        "0: sound. 1: tampered with. 66: incomplete. 69: can't be told.",
        "Whoever is root can write the log and its anchor anew; only a head that was kept on",
        "another machine tells of that.",
      ],
      example: "sudo policyctl audit verify")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    var heads: [LogHead] = []
    for text in call.arguments.values("--against") { heads += try self.heads(text) }
    let place = AuditSite(call.installation()).place
    let progress = VerificationProgress()
    let verification = AuditVerification(of: place, against: heads, progress: progress.update)
    let view = AuditVerdictView(verification: verification, directory: place.directory)
    if call.wantsJSON {
      try Output.print(view.json())
    } else {
      try Output.print(view.text(Terminal.palette(for: .output)))
    }
    return view.exitCode
  }

  /// A line as it stands, or the lines of a file.
  private static func heads(_ text: String) throws(CommandFailure) -> [LogHead] {
    if let head = LogHead(text) { return [head] }
    let bytes: [UInt8]
    do throws(FileError) { bytes = try WholeFile.read(text, limit: 1 << 24).bytes } catch {
      throw CommandFailure(error, while: .reading)
    }
    let heads = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { LogHead($0) }
    if heads.isEmpty {
      throw CommandFailure(.badInput, "\(TerminalText.escape(text)) has no line of audit head in it")
    }
    return heads
  }
}

/// The progress line of a verification as something that a closure can hold.
final class VerificationProgress {
  private var line = ProgressLine("Verifying the audit log")
  func update(_ done: Int, of total: Int) { line.update(done, of: total) }
}

/// `audit head`: the end of the log on one line.
enum AuditHeadVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "head", summary: "Print the end of the audit log on one line, to be kept on another machine.",
      flags: [CommonFlags.format],
      notes: [
        "audit verify --against holds the log to it later. Where the log is behind its",
        "anchor, or an alarm is not acknowledged, a warning says so and the status is 1.",
      ],
      example: "sudo policyctl audit head")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let place = AuditSite(call.installation()).place
    let end: AuditEnd
    do throws(AuditLogError) { end = try AuditEnd(of: place) } catch { throw CommandFailure(error, of: call) }
    guard let head = end.head else { throw AuditShowVerb.nothing(place) }
    if call.wantsJSON {
      var json = JSONWriter(pretty: true)
      AuditVerdictView.write(head, to: &json)
      try Output.print(json)
    } else {
      try Output.print("\(head)\n")
    }
    guard let fault = end.fault else { return .done }
    Policyctl.warn("\(fault)", next: [call.command(privileged: true, "audit", "verify")])
    return .no
  }
}
