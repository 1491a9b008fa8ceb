import AuditEvents
import AuditLog
import CommandLineKit
import Digests
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// The audit log of an installation, and the records of root's verbs.
///
/// The law: a new generation is on record, durably, before it takes effect; where it can't be put on record, nothing changes
/// and the verb ends with 74. What was refused, and what nobody knew, is recorded as far as that goes; where it does not, a
/// warning says so and the verb ends as it would have.
struct AuditSite {
  let installation: Installation

  init(_ installation: Installation) { self.installation = installation }

  var place: AuditLogPlace {
    let installation = installation
    var auditors: UInt32?
    if ProcessIdentity.effectiveUserID == 0 {
      auditors = (try? UserDatabase.groupID(named: AuditSite.auditorsGroup)) ?? nil
    }
    return AuditLogPlace(
      directory: installation.logDirectory, anchor: installation.auditAnchor,
      host: try? HostEnrolment(of: installation).identity.name, auditors: auditors
    ) { installation.isTrustedOwner($0) }
  }

  static let auditorsGroup = "managed-preferences-audit"

  /// Whether a log belongs here: a refusal leaves a host that is not set up as it was.
  var isSetUp: Bool {
    [installation.generationMarker, installation.auditAnchor].contains { path in
      (try? FileMetadata.of(path, followingLinks: false)) != nil
    }
  }

  // MARK: Writing

  /// Appends records, durably, or fails.
  func record(_ records: [AuditRecord]) throws(InstallError) {
    do throws(AuditLogError) { warn(try AuditLog(place).append(records)) } catch {
      throw InstallError(.notRecorded(error.description), path: installation.logDirectory, next: Self.next(error))
    }
  }

  /// Appends the last record and leaves the anchor with the log.
  func recordLast(generation: UInt64) throws(InstallError) {
    do throws(AuditLogError) {
      try AuditLog(place).appendLast([
        .own(.policyUninstalled, fields: ["generation": .integer(PropertyListInteger(generation))])
      ])
    } catch {
      throw InstallError(.notRecorded(error.description), path: installation.logDirectory, next: Self.next(error))
    }
  }

  /// Appends records where that can be done.
  func note(_ records: [AuditRecord]) {
    guard isSetUp else { return }
    do throws(AuditLogError) { warn(try AuditLog(place).append(records)) } catch {
      Policyctl.warn("the audit log does not tell of this: \(error.description)")
    }
  }

  private func warn(_ receipt: AuditReceipt) {
    for alarm in receipt.alarms {
      Policyctl.warn("\(alarm)", next: [installation.auditCommand("verify")])
    }
  }

  private static func next(_ error: AuditLogError) -> [String] {
    error.reason == .full ? ["df \(ShellWord.quote(FilePath.parent(of: error.path)))"] : []
  }

  // MARK: Records

  func recordGeneration(
    _ kind: AuditEvent.Kind, _ marker: GenerationMarker, previous: UInt64
  ) throws(InstallError) {
    var fields: [String: PropertyListValue] = [
      "generation": .integer(PropertyListInteger(marker.generation)),
      "previous": .integer(PropertyListInteger(previous)), "serial": .integer(PropertyListInteger(marker.serial)),
      "digest": .string(HexText.encode(marker.sourceDigest)),
    ]
    if let signer = marker.signer { fields["signer"] = .string(HexText.encode(signer)) }
    if let source = marker.source { fields["source"] = .string(source.path) }
    try record([.own(kind, fields: fields)])
  }

  func noteRefusal(_ error: InstallError, exit: ExitCode, of verb: String, from path: String) {
    if case .notRecorded = error.reason { return }
    var records: [AuditRecord] = []
    if case .unresolvedNames(let faults) = error.reason {
      records.append(Self.unknownIdentities(faults.map(\.name), accepted: false))
    }
    note(records + [Self.refusal(error.word, exit, verb, path)])
  }

  func noteRefusal(reason: String, exit: ExitCode, of verb: String, from path: String) {
    note([Self.refusal(reason, exit, verb, path)])
  }

  private static func refusal(_ reason: String, _ exit: ExitCode, _ verb: String, _ path: String) -> AuditRecord {
    .own(
      .policyRefused,
      fields: [
        "verb": .string(verb), "path": .string(path), "exit": .integer(PropertyListInteger(Int(exit.rawValue))),
        "reason": .string(reason),
      ])
  }

  static func unknownIdentities(_ names: [String], accepted: Bool) -> AuditRecord {
    .own(
      .identityUnknown, fields: ["names": .array(names.map { .string($0) }), "accepted": .boolean(accepted)])
  }

  static func enrolment(from: String?, to: String) -> AuditRecord {
    var fields: [String: PropertyListValue] = ["to": .string(to)]
    if let from { fields["from"] = .string(from) }
    return .own(.hostEnrolled, fields: fields)
  }

  static func trust(_ key: VerificationKey, as name: String) -> AuditRecord {
    .own(
      .keyTrusted,
      fields: [
        "name": .string(name), "fingerprint": .string(key.fingerprint.description),
        "local": .boolean(name == KeyFiles.localName),
      ])
  }
}

extension Installation {
  /// A command of `audit`, as it can be typed.
  func auditCommand(_ words: String...) -> String {
    ShellWord.join(
      (root.isEmpty ? ["sudo", Policyctl.name] : [Policyctl.name, "--root", root]) + ["audit"] + words)
  }
}

extension CommandFailure {
  /// The log's error: its code, its words, its next commands.
  init(_ error: AuditLogError, of call: Invocation) {
    let privileged = call.again(privileged: call.root == nil)
    switch error.reason {
    case .file(let failure):
      let code: ExitCode =
        switch failure.errno {
        case .permissionDenied, .notPermitted: .notPermitted
        default: .inputOutput
        }
      self.init(
        code, TerminalText.escape(error.description), next: code == .notPermitted ? [privileged] : [])
    case .notTrustworthy: self.init(.notPermitted, TerminalText.escape(error.description))
    case .full:
      self.init(
        .inputOutput, TerminalText.escape(error.description),
        next: ["df \(ShellWord.quote(FilePath.parent(of: error.path)))"])
    case .busy: self.init(.unavailable, TerminalText.escape(error.description), next: [call.again()])
    }
  }
}
