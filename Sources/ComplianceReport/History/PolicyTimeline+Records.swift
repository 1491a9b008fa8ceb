import AuditLog
import PropertyList

/// What single records say of it.
extension PolicyTimeline {
  private static func number(_ value: PropertyListValue?) -> UInt64? {
    guard case .integer(let number)? = value else { return nil }
    return number.int64.flatMap { UInt64(exactly: $0) }
  }

  static func word(_ value: PropertyListValue?) -> String? { value?.stringValue }

  mutating func naming(_ record: StoredRecord, _ time: Int64, _ isTrusted: (UInt32) -> Bool) -> Naming? {
    let generation = Self.number(record.fields["generation"])
    let isChange: Bool
    switch record.kind {
    case "policy.installed", "policy.refreshed", "policy.rolled-back", "policy.uninstalled": isChange = true
    case "agent.started", "agent.heartbeat", "agent.stopped", "policy.window-opened", "policy.window-closed":
      isChange = false
    default: return nil
    }
    // A window that nobody noticed in time is one of a generation that may be gone by now.
    guard let generation, record.fields["late"] == nil,
      record.kind.hasPrefix("agent.") || record.kind.hasPrefix("policy.window")
        || (record.attested?["uid"]?.integerValue).flatMap({ UInt32(exactly: $0) }).map(isTrusted) ?? false,
      record.claimed == nil, record.unattested == nil
    else { return nil }
    if let digest = Self.word(record.fields["digest"]) { digests[generation, default: []].insert(digest) }
    if let checksum = Self.word(record.fields["forced"]) { checksums[generation, default: []].insert(checksum) }
    if record.kind == "policy.uninstalled" {
      return Naming(record: record.sequence, time: time, generation: nil, before: generation, isChange: true)
    }
    return Naming(
      record: record.sequence, time: time, generation: generation,
      before: isChange ? Self.number(record.fields["previous"]) : generation, isChange: isChange)
  }

  /// The agent saw what was there before a change that was on record and had no effect yet.
  static func isBeforeEffect(_ naming: Naming, _ last: Naming?) -> Bool {
    guard let last, last.isChange, !naming.isChange, let before = last.before else { return false }
    return naming.generation == before && naming.time < last.time + takingEffect
  }

  mutating func note(_ record: StoredRecord, _ time: Int64, _ before: Int64?) {
    switch record.kind {
    case "audit.recovered":
      add(
        HistoryGap(
          .recovered, from: min(before ?? time, time), to: time, record: record.sequence,
          "a crash left an unfinished line, which was cut off"))
    case "audit.dropped":
      var since = time
      if case .date(let date)? = record.fields["since"] { since = Int64(date.unixTime.rounded(.down)) }
      if let text = Self.word(record.fields["since"]), let date = PropertyListDate(rfc3339: text) {
        since = Int64(date.unixTime.rounded(.down))
      }
      let count = Self.number(record.fields["count"]).map(String.init) ?? "some"
      let user = Self.number(record.fields["user"]).flatMap { UInt32(exactly: $0) }
      let what =
        user.map { "the agent refused \(count) events of user \($0)" } ?? "\(count) events found no room"
      add(HistoryGap(.dropped, from: min(since, time), to: time, record: record.sequence, user: user, what))
    default: break
    }
    guard span.contains(time) else { return }
    if record.personal == .erased { erasedCount += 1 }
    if record.kind == "forced.write", let user = record.userID, let domain = Self.word(record.fields["domain"]),
      let key = Self.word(record.fields["key"])
    {
      let count = Self.number(record.fields["count"]).flatMap { Int(exactly: $0) } ?? 1
      let (sum, overflows) = attempts[Attempt(user: user, domain: domain, key: key), default: 0]
        .addingReportingOverflow(count)
      attempts[Attempt(user: user, domain: domain, key: key)] = overflows ? Int.max : sum
    }
    if let text = Self.text(record) {
      events.append(Event(record: record.sequence, time: time, kind: record.kind, text: text))
    }
  }

  /// What happened in one sentence; nil for what a history does not list.
  private static func text(_ record: StoredRecord) -> String? {
    let generation = number(record.fields["generation"]).map { "generation \($0)" } ?? "a generation"
    let profile = word(record.fields["profile"]) ?? "a profile"
    switch record.kind {
    case "policy.installed": return "\(generation) was installed"
    case "policy.refreshed": return "\(generation) was made of the bundle that was installed"
    case "policy.rolled-back": return "\(generation) brought an older policy back"
    case "policy.refused": return "an update was refused (\(word(record.fields["reason"]) ?? "no reason given"))"
    case "policy.uninstalled": return "everything was taken away"
    case "policy.window-opened", "policy.window-closed":
      let verb = record.kind.hasSuffix("opened") ? "opened" : "closed"
      guard record.fields["late"] != nil, let edge = word(record.fields["edge"]) else {
        return "the window of \(profile) \(verb)"
      }
      return "the window of \(profile) had \(verb) at \(edge), which was noticed late"
    case "policy.stale": return "the sources on the host differ from those installed"
    case "agent.started": return "the agent started"
    case "agent.stopped": return "the agent stopped"
    case "host.enrolled": return "the host was enrolled as \(word(record.fields["to"]) ?? "somebody else")"
    case "audit.acknowledged": return "the alarms were looked into: \(word(record.fields["reason"]) ?? "")"
    case "audit.erased": return "personal parts of records were erased"
    case "audit.checkpoint": return "old records were removed"
    case "audit.set-aside":
      return "the log before did not verify and was set aside: \(word(record.fields["reason"]) ?? "")"
    default: return nil
    }
  }
}
