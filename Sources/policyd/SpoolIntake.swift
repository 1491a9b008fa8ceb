import AuditEvents
import Glibc
import LinuxFiles
import PropertyList

/// Takes in what users' spools hold: the events of programs that found no agent.
///
/// The law: what is in a spool is what its owner says, and no more; each record names the owner and is marked unattested. A
/// spool counts only where its folder and its file are the user's own, with no link on the way from the home directory,
/// and everything is done with the user's rights, not root's. The file is first renamed, under the lock that its writers
/// take, and removed when its events are on the disk; a renamed file that is there already was taken in by an agent that
/// was ended meanwhile, and of its events those come in that the log does not have. Before that it gets another name: what
/// is found under that one has ended the agent twice, and is not read again but set aside, counted, and recorded as refused.
/// So no file can keep the agent from its work. Where somebody holds the lock, the spool waits for the next time.
struct SpoolIntake {
  /// A folder that may hold a spool, and whose it has to be.
  struct Spool: Hashable {
    let owner: UInt32
    let group: UInt32
    /// Where links are followed: up to here only who keeps accounts can place them.
    let anchor: String
    let directory: String
  }

  /// As `AuditSpool` calls them.
  static let name = "events.jsonl"
  static let lockName = "events.lock"
  /// The spool while it is taken in.
  static let takenName = "events.taken.jsonl"
  /// While it is taken in for the second time, since the agent was ended during the first.
  static let retakenName = "events.retaken.jsonl"
  /// What was not taken in; a later one replaces it.
  static let asideName = "events.aside.jsonl"

  /// Of one spool at a time: what `AuditSpool` lets it become, and somewhat more.
  static let maximumBytes = 2 << 20
  static let maximumEvents = 8192

  let store: any EventStore
  /// Says a line to whoever reads the service's messages.
  let report: (String) -> Void

  /// The spools of all accounts that the name service lists, where programs keep them that say nothing else.
  static func ofAllUsers() -> [Spool] {
    UserDatabase.accounts().filter { $0.homeDirectory.hasPrefix("/") && $0.homeDirectory != "/" }.map { account in
      Spool(
        owner: account.userID, group: account.groupID, anchor: account.homeDirectory,
        directory: FilePath.join(account.homeDirectory, ".local/state/managed-preferences"))
    }
  }

  /// The spool of the user whom this process belongs to.
  static func ofThisUser() -> [Spool] {
    guard let directory = try? AuditSpool.userDirectory() else { return [] }
    return [
      Spool(
        owner: ProcessIdentity.effectiveUserID, group: ProcessIdentity.realGroupID, anchor: directory,
        directory: directory)
    ]
  }

  /// Takes in one spool.
  /// - Returns: how many events came in.
  @discardableResult
  func take(_ spool: Spool) -> Int {
    guard setAside(spool) else { return 0 }
    var count = 0
    // What was taken before and not finished comes first.
    for isFresh in [false, true] {
      let name = isFresh ? Self.takenName : Self.retakenName
      let opened = ProcessLimits.withFiles(ofUser: spool.owner, group: spool.group) {
        isFresh ? rename(spool) : reopen(spool)
      }
      guard case .some(.some(let found)) = opened else { continue }
      var records = Self.records(found.bytes, owner: spool.owner, writtenAt: found.time)
      do throws(EventStoreError) {
        if !isFresh { records = try store.withoutKept(records) }
        for start in stride(from: 0, to: records.count, by: 256) {
          try store.append(Array(records[start..<min(start + 256, records.count)]))
        }
        count += records.count
      } catch {
        report("the spool in \(spool.directory) waits: \(error)")
        // That the log has no room now is not the file's doing.
        if !isFresh { move(name, to: Self.takenName, spool) }
        return count
      }
      _ = ProcessLimits.withFiles(ofUser: spool.owner, group: spool.group) {
        if let folder = folder(of: spool) { try? folder.remove(name) }
      }
    }
    return count
  }

  /// Sets aside what was being taken in, for the second time, when the agent ended.
  /// - Returns: false where that has to wait, since the log has no room for the record of it.
  private func setAside(_ spool: Spool) -> Bool {
    let opened = ProcessLimits.withFiles(ofUser: spool.owner, group: spool.group) { () -> Found? in
      guard let found = open(Self.retakenName, spool), let folder = folder(of: spool),
        (try? folder.rename(Self.retakenName, to: Self.asideName)) != nil
      else { return nil }
      return found
    }
    guard case .some(.some(let found)) = opened else { return true }
    let count = max(1, found.bytes.count { $0 == UInt8(ascii: "\n") })
    report(
      "the agent ended twice while it took in \(spool.directory)/\(Self.takenName); it is not read again, and "
        + "kept as \(Self.asideName)")
    do throws(EventStoreError) {
      try store.append([Self.refusal(of: count, owner: spool.owner)])
      return true
    } catch {
      report("the spool in \(spool.directory) waits: \(error)")
      move(Self.asideName, to: Self.retakenName, spool)
      return false
    }
  }

  private func move(_ name: String, to other: String, _ spool: Spool) {
    _ = ProcessLimits.withFiles(ofUser: spool.owner, group: spool.group) {
      if let folder = folder(of: spool) { try? folder.rename(name, to: other) }
    }
  }

  private func folder(of spool: Spool) -> OpenDirectory? {
    guard let folder = try? OpenDirectory(spool.directory, below: spool.anchor),
      let metadata = try? folder.descriptor.metadata(), metadata.userID == spool.owner
    else { return nil }
    return folder
  }

  /// What a spool's file holds, and when it was written last.
  private struct Found {
    let bytes: [UInt8]
    let time: PropertyListDate
  }

  /// Renames the spool and reads it.
  private func rename(_ spool: Spool) -> Found? {
    guard let folder = folder(of: spool), let file = try? folder.metadata(of: Self.name), file.isRegularFile,
      file.size > 0, (try? folder.metadata(of: Self.takenName)) == nil,
      let lock = try? FileLock.exclusive(Self.lockName, in: folder, creating: false, timeout: 0.2)
    else { return nil }
    defer { extendLifetime(lock) }
    guard (try? folder.rename(Self.name, to: Self.takenName)) != nil else { return nil }
    return open(Self.takenName, spool)
  }

  /// Renames what was renamed once, and reads it.
  private func reopen(_ spool: Spool) -> Found? {
    // Held against what may be opened first: a name of another's file stays what it is.
    guard let found = open(Self.takenName, spool), let folder = folder(of: spool),
      (try? folder.rename(Self.takenName, to: Self.retakenName)) != nil
    else { return nil }
    return found
  }

  /// Reads what was renamed.
  private func open(_ name: String, _ spool: Spool) -> Found? {
    guard let folder = folder(of: spool), let file = try? folder.open(name, [.nonBlocking]),
      let metadata = try? file.metadata(), metadata.isRegularFile, metadata.userID == spool.owner
    else { return nil }
    // A user who makes the file larger than ours become has it cut, not read.
    var bytes = [UInt8](repeating: 0, count: min(Int(clamping: metadata.size), Self.maximumBytes))
    let count = bytes.withUnsafeMutableBytes { try? file.read(into: $0, at: 0) } ?? 0
    return Found(
      bytes: Array(bytes.prefix(count)),
      time: PropertyListDate(unixTime: Double(metadata.modificationNanoseconds / 1_000_000) / 1000))
  }

  /// The events in a spool; the same one after the other are one record with a count. What is no event, and what is
  /// beyond the bounds, is one record that counts it.
  /// - Parameter time: of events that state none.
  static func records(_ bytes: [UInt8], owner: UInt32, writtenAt time: PropertyListDate) -> [AgentRecord] {
    var records: [AgentRecord] = []
    var counts: [Int] = []
    var places: [PendingRecords.Sameness: Int] = [:]
    var refused = 0
    let nobody = AuditEvent.Claim(processID: 0, userID: owner, executable: nil)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard records.count < maximumEvents,
        let event = AuditEvent(line: Array(line), orTime: time, orClaim: nobody),
        IncomingPacket.kinds.contains(event.kind)
      else {
        refused += 1
        continue
      }
      let record = AgentRecord(event, attestation: .spool(owner: owner))
      let sameness = PendingRecords.Sameness(record, user: owner, executable: event.claim.executable)
      if let place = places[sameness], event.kind != .eventsDropped {
        counts[place] += 1
      } else {
        places[sameness] = records.count
        records.append(record)
        counts.append(1)
      }
    }
    for (place, count) in counts.enumerated() where count > 1 { records[place].fields["count"] = .number(count) }
    if refused > 0 { records.append(refusal(of: refused, owner: owner)) }
    return records
  }

  private static func refusal(of count: Int, owner: UInt32) -> AgentRecord {
    AgentRecord(
      .auditDropped,
      ["count": .number(count), "user": .number(owner), "reasons": .dictionary(["spool": .number(count)])],
      isAdministrative: false)
  }
}
