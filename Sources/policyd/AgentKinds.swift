import AuditEvents

extension AuditEvent.Kind {
  /// The agent serves from here on. Fields: `generation`, `digest`, `boot`, `version`, `clock`.
  static let agentStarted = Self(rawValue: "agent.started")
  /// It stopped in good order. Fields: `generation`, `reason`.
  static let agentStopped = Self(rawValue: "agent.stopped")
  /// It was alive, and this is what was in force. Fields: `generation`, `digest`, `forced`, `boot`, `clock`, `uptime`.
  static let agentHeartbeat = Self(rawValue: "agent.heartbeat")
  /// A profile's window of time opened or closed. Fields: `generation`, `profile`, `edge`.
  static let windowOpened = Self(rawValue: "policy.window-opened")
  static let windowClosed = Self(rawValue: "policy.window-closed")
  /// The sources on this host differ from what was installed of them. Fields: `generation`, `digest`, `found`.
  static let policyStale = Self(rawValue: "policy.stale")
  /// Names in the policies in force that the name service does not know. Fields: `names`, `accepted`.
  static let unknownIdentity = Self(rawValue: "identity.unknown")
  /// Events that were refused. Fields: `count`, `user`, `reasons`.
  static let refusedEvents = Self(rawValue: "audit.dropped")
}
