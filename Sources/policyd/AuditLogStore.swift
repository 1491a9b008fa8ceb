import AuditEvents
import AuditLog
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// The audit log of an installation as the place of the agent's records.
struct AuditLogStore: EventStore {
  private let installation: Installation
  private let report: @Sendable (String) -> Void

  /// The group that may read the log, where the system has it.
  static let auditorsGroup = "managed-preferences-audit"

  init(_ installation: Installation, report: @escaping @Sendable (String) -> Void) {
    self.installation = installation
    self.report = report
  }

  func append(_ records: [AgentRecord]) throws(EventStoreError) {
    // After an uninstallation nothing may follow the log's last record.
    guard
      (try? FileMetadata.of(installation.auditAnchor, followingLinks: false)) != nil
        || (try? FileMetadata.of(installation.generationMarker, followingLinks: false)) != nil
    else { throw EventStoreError(description: "\(installation.stateDirectory): nothing is installed here any more") }
    do throws(AuditLogError) {
      for alarm in try AuditLog(place).append(records.map(\.forLog)).alarms { report("warning: \(alarm)") }
    } catch {
      throw EventStoreError(description: error.description)
    }
  }

  var place: AuditLogPlace {
    let installation = installation
    var auditors: UInt32?
    if ProcessIdentity.effectiveUserID == 0 {
      auditors = (try? UserDatabase.groupID(named: Self.auditorsGroup)) ?? nil
    }
    return AuditLogPlace(
      directory: installation.logDirectory, anchor: installation.auditAnchor,
      host: try? HostEnrolment(of: installation).identity.name, auditors: auditors
    ) { installation.isTrustedOwner($0) }
  }
}

extension AgentRecord {
  var forLog: AuditRecord {
    switch attestation {
    case .agent:
      var record = AuditRecord.own(kind, fields: fields)
      record.isAdministrative = isAdministrative
      return record
    case .process(let user, let process, let executable):
      return AuditRecord(
        kind, fields: fields, time: time,
        attested: AuditRecord.Attestation(userID: user, processID: process, executable: executable),
        claimed: claim, claimedTime: claimedTime, isAdministrative: isAdministrative)
    case .spool(let owner, let isOfUnknownOrigin):
      return AuditRecord(
        kind, fields: fields, time: time, attested: nil, claimed: claim, claimedTime: claimedTime, spoolOwner: owner,
        isOfUnknownOrigin: isOfUnknownOrigin, isAdministrative: isAdministrative)
    }
  }
}
