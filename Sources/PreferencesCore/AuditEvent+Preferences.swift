public import AuditEvents
public import ForcedDomain
import PropertyList

/// What auditors are told of preferences.
extension AuditEvent {
  /// A forced key that somebody tried to change, whoever found out.
  ///
  /// - Parameters:
  ///   - operation: `set`, `remove`, `rename`.
  ///   - profiles: who forces the key; empty while the forced domain can't be read.
  public static func forcedWrite(
    of key: String, inDomain domain: String, operation: String, profiles: [ForcedBy]
  ) -> AuditEvent {
    var fields: [String: PropertyListValue] = [
      "domain": .string(domain), "key": .string(key), "operation": .string(operation),
      "profiles": .array(profiles.map { .string($0.profile) }),
    ]
    if let generation = profiles.first?.generation {
      fields["generation"] = .integer(PropertyListInteger(generation))
    }
    return AuditEvent(.forcedWrite, fields: fields)
  }

  /// A preference file's fault, or a synced store's.
  init(_ fault: PreferencesFault, inDomain name: String) {
    self.init(
      [.unwritable, .notRoaming].contains(fault.kind) ? .domainUnwritable : .domainDamaged,
      fields: ["domain": .string(name), "path": .string(fault.path), "fault": .string(fault.message)])
  }
}

extension Installation {
  /// Where a program's events about this installation go, when it names no other sink.
  /// - Parameter home: the home of the preferences. Where it is another than the process's, its spool keeps what no agent takes.
  public func auditSink(home: String) -> any AuditEventSink {
    DefaultAuditEventSink.current(
      agent: agentSocket, home: home == UserLocations.homeDirectory() ? nil : home,
      origin: SpoolOrigin(host: HostIdentifier.current(), root: root))
  }
}
