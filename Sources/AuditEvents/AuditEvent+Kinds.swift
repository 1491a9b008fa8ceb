/// Every kind of event, whoever records it. What a record may have of each kind's fields is in `RecordFields` of the log.
extension AuditEvent.Kind {
  // MARK: Programs

  /// A program tried to set or remove a forced key. Fields: `domain`, `key`, `operation`, `profiles`, `generation`.
  public static let forcedWrite = Self(rawValue: "forced.write")
  /// A contained application's access to a foreign domain ended in its container. Fields: `application`, `domain`, `key`
  /// (of writes), `operation`, `path`.
  public static let foreignRedirect = Self(rawValue: "foreign.redirect")
  /// The forced domain or a preference file can't be read. Fields: `path`, `faults`, `inForce`.
  public static let domainDamaged = Self(rawValue: "domain.damaged")
  /// A preference file can't be written. Fields: `domain`, `path`, `fault`.
  public static let domainUnwritable = Self(rawValue: "domain.unwritable")
  /// Events were lost. Fields: `dropped` (their number), `reason`.
  public static let eventsDropped = Self(rawValue: "events.dropped")

  // MARK: Root's commands

  /// Root puts a bundle in force. Fields: `generation`, `previous`, `serial`, `digest`, `signer`, `source`, `keys`.
  public static let policyInstalled = Self(rawValue: "policy.installed")
  /// The same for what a refresh makes of the bundle that is installed.
  public static let policyRefreshed = Self(rawValue: "policy.refreshed")
  /// Root's installation or refresh was refused. Fields: `verb`, `path`, `exit`, `reason` (a word, never contents).
  public static let policyRefused = Self(rawValue: "policy.refused")
  /// Root took everything away. Fields: `generation`.
  public static let policyUninstalled = Self(rawValue: "policy.uninstalled")
  /// Policies name users or groups that nobody knows. Fields: `names`, `accepted`.
  public static let identityUnknown = Self(rawValue: "identity.unknown")
  /// The host has a new name. Fields: `from`, `to`.
  public static let hostEnrolled = Self(rawValue: "host.enrolled")
  /// A key's signatures are accepted from now on. Fields: `name`, `fingerprint`, `local`.
  public static let keyTrusted = Self(rawValue: "key.trusted")

  // MARK: The agent

  /// The agent serves from here on. Fields: `generation`, `digest`, `boot`, `version`, `clock`.
  public static let agentStarted = Self(rawValue: "agent.started")
  /// It stopped in good order. Fields: `generation`, `reason`.
  public static let agentStopped = Self(rawValue: "agent.stopped")
  /// It was alive, and this is what was in force. Fields: `generation`, `digest`, `forced`, `boot`, `clock`, `uptime`,
  /// `spoolsLeft`.
  public static let agentHeartbeat = Self(rawValue: "agent.heartbeat")
  /// A profile's window of time opened or closed. Fields: `generation`, `profile`, `edge`, `late` (nobody noticed it when it
  /// passed).
  public static let windowOpened = Self(rawValue: "policy.window-opened")
  public static let windowClosed = Self(rawValue: "policy.window-closed")
  /// The sources on this host differ from what was installed of them. Fields: `generation`, `digest`, `found`.
  public static let policyStale = Self(rawValue: "policy.stale")

  // MARK: The log about itself

  /// The first record of a log. Fields: `log` (its id), `format`.
  public static let auditBegan = Self(rawValue: "audit.began")
  /// The first record of every other segment. Fields: `log`, `previous` (the file before), `records`, `bytes` (of it).
  public static let auditRotated = Self(rawValue: "audit.rotated")
  /// What a crash left of unfinished lines was cut off. Fields: `file` (where it is kept), `bytes`, `counted`.
  public static let auditRecovered = Self(rawValue: "audit.recovered")
  /// The log is not what the anchor counted. Fields: `reason`, `expected`, `expectedHash`, `found`, `foundHash`.
  public static let auditAlarm = Self(rawValue: "audit.alarm")
  /// An administrator has seen the alarms up to a record. Fields: `through`, `reason`.
  public static let auditAcknowledged = Self(rawValue: "audit.acknowledged")
  /// Old segments were removed. Fields: `through` (their last record), `hash` (of its line), `records`, `segments`.
  public static let auditCheckpoint = Self(rawValue: "audit.checkpoint")
  /// The log before this record did not verify, and is in a folder of its own. Fields: `log`, `through`, `hash` (the last record
  /// there), `folder`, `files`, `digest` (of the list of their digests), `finding`, `reason`.
  public static let auditSetAside = Self(rawValue: "audit.set-aside")
  /// Personal parts were erased. Fields: `records` (their numbers), `count`, `reason`.
  public static let auditErased = Self(rawValue: "audit.erased")
  /// Records found no room, or a program's events were refused. Fields: `count`, `since`; `user` and `reasons` of events.
  public static let auditDropped = Self(rawValue: "audit.dropped")
}
