import AuditEvents
import Glibc
import LinuxFiles
import PropertyList

/// Takes in what users' spools hold: the events of programs that found no agent.
///
/// The law: what is in a spool is what its owner says, and no more; each record names the owner and is marked unattested. A
/// spool counts only where its folder and its files are the user's own, with no link on the way from the home directory,
/// and everything is done with the user's rights, not root's. Of its files
///
/// - that of this host and this installation comes in (`SpoolOrigin`). Where a line in it says that it is of another, that
///   line is counted, and the file is set aside instead of removed;
/// - that of nobody knows which, from before a spool said so (`events.jsonl`), comes in marked as of unknown origin. Only the
///   agent of a host's own installation takes it;
/// - those of other hosts and installations are left alone (`left(in:)`).
///
/// A file is first renamed, under the lock that its writers take, and removed when its events are on the disk; a renamed
/// file that is there already was taken in by an agent that was ended meanwhile, and of its events those come in that the
/// log does not have. Before that it gets another name: what is found under that one has ended the agent twice, and is not
/// read again but set aside, counted, and recorded as refused. So no file can keep the agent from its work. Where somebody
/// holds the lock, the spool waits for the next time.
struct SpoolIntake {
  /// A folder that may hold a spool, and whose it has to be.
  struct Spool: Hashable {
    let owner: UInt32
    let group: UInt32
    /// Where links are followed: up to here only who keeps accounts can place them.
    let anchor: String
    let directory: String
  }

  /// Of one spool at a time: what `AuditSpool` lets it become, and somewhat more.
  static let maximumBytes = 2 << 20
  static let maximumEvents = 8192
  /// Files that are set aside beside one another; then what has to be set aside stays where it is.
  static let maximumAside = 99

  /// Whose events are taken in.
  let origin: SpoolOrigin
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

  /// The files that are taken in.
  private var names: [SpoolName] {
    [SpoolName(stem: origin.stem)] + (origin.root.isEmpty ? [SpoolName(stem: SpoolName.old)] : [])
  }

  /// Takes in one spool.
  /// - Returns: how many events came in.
  @discardableResult
  func take(_ spool: Spool) -> Int { names.reduce(0) { $0 + take($1, of: spool) } }

  private func take(_ name: SpoolName, of spool: Spool) -> Int {
    guard setAside(name, of: spool) else { return 0 }
    var count = 0
    // What was taken before and not finished comes first.
    for isFresh in [false, true] {
      let current = isFresh ? name.taken : name.retaken
      let opened = withRights(of: spool) { isFresh ? rename(name, in: $0, spool) : reopen(name, in: $0, spool) }
      guard let found = opened else { continue }
      let contents = contents(found.bytes, owner: spool.owner, writtenAt: found.time)
      do throws(EventStoreError) {
        let records = isFresh ? contents.records : try store.withoutKept(contents.records)
        for start in stride(from: 0, to: records.count, by: 256) {
          try store.append(Array(records[start..<min(start + 256, records.count)]))
        }
        count += records.count
      } catch {
        report("the spool in \(spool.directory) waits: \(error)")
        // That the log has no room now is not the file's doing.
        if !isFresh { move(name.retaken, to: name.taken, spool) }
        return count
      }
      if contents.isWithForeign {
        guard let aside = moveAside(current, name, spool) else {
          report("the spool in \(spool.directory) waits: too much was set aside there")
          if !isFresh { move(name.retaken, to: name.taken, spool) }
          return count
        }
        report(
          "in \(spool.directory) are lines of another host or installation; they did not come in, and are kept in "
            + aside)
      } else {
        withRights(of: spool) { try? $0.remove(current) }
      }
    }
    return count
  }

  /// Sets aside what was being taken in, for the second time, when the agent ended.
  /// - Returns: false where that has to wait, since the log has no room for the record of it.
  private func setAside(_ name: SpoolName, of spool: Spool) -> Bool {
    guard let found = withRights(of: spool, { open(name.retaken, in: $0, spool) }) else { return true }
    guard let aside = moveAside(name.retaken, name, spool) else {
      report("the spool in \(spool.directory) waits: too much was set aside there")
      return false
    }
    let count = max(1, found.bytes.count { $0 == UInt8(ascii: "\n") })
    report(
      "the agent ended twice while it took in \(spool.directory)/\(name.taken); it is not read again, and "
        + "kept as \(aside)")
    do throws(EventStoreError) {
      try store.append([Self.refusal(["spool": count], owner: spool.owner)])
      return true
    } catch {
      report("the spool in \(spool.directory) waits: \(error)")
      move(aside, to: name.retaken, spool)
      return false
    }
  }

  // MARK: Files

  /// Does something in the spool's folder, with the rights of its user.
  /// - Returns: nil where that can't be, or the folder is not the user's.
  @discardableResult
  func withRights<T>(of spool: Spool, _ body: (borrowing OpenDirectory) -> T?) -> T? {
    let result = ProcessLimits.withFiles(ofUser: spool.owner, group: spool.group) { () -> T? in
      guard let folder = try? OpenDirectory(spool.directory, below: spool.anchor),
        let metadata = try? folder.descriptor.metadata(), metadata.userID == spool.owner
      else { return nil }
      return body(folder)
    }
    return result ?? nil
  }

  private func move(_ name: String, to other: String, _ spool: Spool) {
    withRights(of: spool) { try? $0.rename(name, to: other) }
  }

  /// Gives a file the first name that is free for what was set aside.
  /// - Returns: that name; nil where none is.
  private func moveAside(_ current: String, _ name: SpoolName, _ spool: Spool) -> String? {
    withRights(of: spool) { folder in
      for number in 1...Self.maximumAside {
        let aside = name.aside(number)
        guard (try? folder.metadata(of: aside)) == nil else { continue }
        return (try? folder.rename(current, to: aside)).map { aside }
      }
      return nil
    }
  }

  /// What a spool's file holds, and when it was written last.
  private struct Found {
    let bytes: [UInt8]
    let time: PropertyListDate
  }

  /// Renames the spool and reads it.
  private func rename(_ name: SpoolName, in folder: borrowing OpenDirectory, _ spool: Spool) -> Found? {
    guard let file = try? folder.metadata(of: name.file), file.isRegularFile, file.size > 0,
      (try? folder.metadata(of: name.taken)) == nil,
      let lock = try? FileLock.exclusive(name.lock, in: folder, creating: false, timeout: 0.2)
    else { return nil }
    defer { extendLifetime(lock) }
    guard (try? folder.rename(name.file, to: name.taken)) != nil else { return nil }
    return open(name.taken, in: folder, spool)
  }

  /// Renames what was renamed once, and reads it.
  private func reopen(_ name: SpoolName, in folder: borrowing OpenDirectory, _ spool: Spool) -> Found? {
    // Held against what may be opened first: a name of another's file stays what it is.
    guard let found = open(name.taken, in: folder, spool), (try? folder.rename(name.taken, to: name.retaken)) != nil
    else { return nil }
    return found
  }

  /// Reads what was renamed.
  private func open(_ name: String, in folder: borrowing OpenDirectory, _ spool: Spool) -> Found? {
    guard let file = try? folder.open(name, [.nonBlocking]), let metadata = try? file.metadata(),
      metadata.isRegularFile, metadata.userID == spool.owner
    else { return nil }
    // A user who makes the file larger than ours become has it cut, not read.
    var bytes = [UInt8](repeating: 0, count: min(Int(clamping: metadata.size), Self.maximumBytes))
    let count = bytes.withUnsafeMutableBytes { try? file.read(into: $0, at: 0) } ?? 0
    return Found(
      bytes: Array(bytes.prefix(count)),
      time: PropertyListDate(unixMilliseconds: metadata.modificationNanoseconds / 1_000_000))
  }
}
