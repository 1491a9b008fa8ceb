import AuditEvents
import PropertyList
import Synchronization

/// What auditors are told of accesses that ended in a container: each once for a process, a domain and a key.
///
/// A read costs what it always costs, so a domain that is read counts as a whole, when it is opened: as a suite, by name, or
/// for a list of its own. Of `NSGlobalDomain` and of domains that an application may read, only writes are redirected.
enum RedirectedAccess {
  private struct Access: Hashable {
    let domain: String
    let key: String?
    let isWrite: Bool
  }

  /// More than that from one process tells an auditor nothing more.
  private static let limit = 4096
  private static let told = Mutex<Set<Access>>([])

  static func noteRead(ofDomain name: String, in locations: PreferenceLocations, to sink: any AuditEventSink) {
    guard let containment = locations.containment, containment.isForeign(name), name != GlobalDomain.name,
      !containment.mayRead(name)
    else { return }
    send(Access(domain: name, key: nil, isWrite: false), containment, locations, "read", sink)
  }

  /// - Parameter operation: `set`, `remove`.
  static func noteWrite(
    of key: String, inDomain name: String, operation: String, in locations: PreferenceLocations,
    to sink: any AuditEventSink
  ) {
    guard let containment = locations.containment, containment.isForeign(name) else { return }
    send(Access(domain: name, key: key, isWrite: true), containment, locations, operation, sink)
  }

  private static func send(
    _ access: Access, _ containment: Containment, _ locations: PreferenceLocations, _ operation: String,
    _ sink: any AuditEventSink
  ) {
    let isNew = told.withLock { told in told.count < limit && told.insert(access).inserted }
    if !isNew { return }
    var fields: [String: PropertyListValue] = [
      "application": .string(containment.identifier), "domain": .string(access.domain),
      "operation": .string(operation),
      "path": .string(locations.file(ofDomain: access.domain, user: .current, host: nil).path),
    ]
    fields["key"] = access.key.map { .string($0) }
    sink.send(AuditEvent(.foreignRedirect, fields: fields))
  }
}

extension SearchList {
  func noteRedirectedRead(of domain: String) {
    if configuration.containment == nil { return }
    RedirectedAccess.noteRead(ofDomain: domain, in: configuration.locations, to: configuration.sink)
  }

  func noteRedirectedWrite(of key: String, inDomain domain: String, removing: Bool) {
    if configuration.containment == nil { return }
    RedirectedAccess.noteWrite(
      of: key, inDomain: domain, operation: removing ? "remove" : "set", in: configuration.locations,
      to: configuration.sink)
  }
}
