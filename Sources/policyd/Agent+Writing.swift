import AuditEvents
import LinuxFiles
import PropertyList

// Writing what is due, answering, and closing what has nothing to say.
extension Agent {
  /// Writes what is due, and answers.
  func write(all: Bool = false) {
    let now = WallClock.monotonicSeconds()
    let isDue = pending.due.map { $0 <= now } ?? false
    if isDue || pending.count >= limits.batch || (all && !pending.isEmpty), all || (pausedUntil ?? now) <= now {
      do throws(EventStoreError) {
        try store.append(pending.forWriting())
        kept += pending.count
        pending.clear(at: now)
        if fault != nil { report("the audit log can be written again") }
        fault = nil
        pausedUntil = nil
      } catch {
        if fault != error { report("the audit log can't be written: \(error); events wait") }
        fault = error
        pausedUntil = now + limits.retry
      }
    }
    answerAll(isWritten: pending.isEmpty)
  }

  private func answerAll(isWritten: Bool) {
    for user in turns {
      guard var share = shares[user] else { continue }
      var gone: Set<Int32> = []
      for client in share.clients where !client.answer(isWritten: isWritten) { gone.insert(client.descriptor) }
      if !gone.isEmpty {
        close(gone, in: &share)
        shares[user] = share
      }
    }
  }

  func tellRefusals(at now: Moment, all: Bool = false) {
    for user in shares.keys {
      guard let since = shares[user]?.refusedSince, all || now - since >= limits.refusals,
        let refusals = shares[user]?.takeRefusals()
      else { continue }
      let reasons = refusals.map { ($0.key.rawValue, PropertyListValue.number($0.value)) }
      pending.add(
        AgentRecord(
          .auditDropped,
          [
            "count": .number(refusals.values.reduce(0, +)), "user": .number(user),
            "reasons": .dictionary(Dictionary(uniqueKeysWithValues: reasons)),
          ], isAdministrative: false), at: now)
    }
  }

  // MARK: Closing

  func close(_ gone: Set<Int32>, in share: inout UserShare) {
    guard !gone.isEmpty else { return }
    connections -= gone.count
    share.clients.removeAll { gone.contains($0.descriptor) }
  }

  func closeIdle(at now: Moment) {
    for user in Array(shares.keys) {
      guard var share = shares[user] else { continue }
      let gone = Set(share.clients.filter { $0.isIdle(at: now, after: limits.idle) }.map(\.descriptor))
      close(gone, in: &share)
      shares[user] = share.isForgettable(at: now) ? nil : share
    }
    turns.removeAll { shares[$0]?.clients.isEmpty != false }
    if let until = closedUntil, until <= now { closedUntil = nil }
  }

  /// What has come by now is written; what comes later waits in users' spools.
  func drain() {
    takeMail()
    let now = WallClock.monotonicSeconds()
    letIn(at: now)
    // A bounded number of rounds: somebody may send without end.
    for _ in 0..<64 {
      let before = pending.count
      readInTurns(Set(shares.values.flatMap { $0.clients.map(\.descriptor) }), at: now)
      if pending.count == before { break }
      write(all: true)
    }
    tellRefusals(at: now, all: true)
    pending.add(AgentRecord(.agentStopped, mailbox.lastFields.merging(["reason": .string("signal")]) { $1 }), at: now)
    write(all: true)
    if let fault { report("\(pending.count) records are lost: \(fault)") }
  }
}
