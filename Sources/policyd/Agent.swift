import AuditEvents
import Glibc
import LinuxFiles
import PropertyList
import Synchronization

/// The agent's loop: one thread that takes events from programs and brings them into the log.
///
/// The law of a round: let in who asks (a few), read from each user in turn (a few packets), write what is due, answer. No
/// step waits for a program, and what a round spends on one user is bounded, so that the next one's turn comes soon
/// whatever that user does. What could wait for others (the name service, homes in the network) is not done here
/// (`HostWatch`).
final class Agent {
  let limits: AgentLimits
  let store: any EventStore
  private let listener: ListeningSocket
  private let signals: ServiceSignals
  let mailbox: Mailbox
  let report: (String) -> Void
  let started = WallClock.unixSeconds()

  var shares: [UInt32: UserShare] = [:]
  /// Users with connections, the one whose turn is next first.
  var turns: [UInt32] = []
  var connections = 0
  var pending: PendingRecords
  var memory = [UInt8](repeating: 0, count: AgentProtocol.packetBytes)
  private var groups: UserGroups
  private var isStopping = false
  /// Until when nothing is written, since the log can't be.
  var pausedUntil: Moment?
  var fault: EventStoreError?
  var kept = 0
  var refused = 0
  /// Connections are let in again at that moment: this process lacks descriptors.
  var closedUntil: Moment?

  /// - Parameter report: says a line to whoever reads the service's messages.
  init(
    listener: consuming ListeningSocket, signals: consuming ServiceSignals, mailbox: Mailbox, store: any EventStore,
    limits: AgentLimits = AgentLimits(), groups: UserGroups = UserGroups(),
    report: @escaping (String) -> Void
  ) {
    self.groups = groups
    self.listener = listener
    self.signals = signals
    self.mailbox = mailbox
    self.store = store
    self.limits = limits
    self.report = report
    pending = PendingRecords(limits: limits)
  }

  /// Serves until SIGTERM or SIGINT; then what has come is written.
  ///
  /// - Parameter lookAnew: called on SIGHUP.
  func run(lookAnew: () -> Void) {
    while !isStopping {
      let ready = wait()
      if ready.signals { take(lookAnew) }
      if ready.mailbox { takeMail() }
      if mailbox.isEnded {
        report("nothing is installed here any more; what has come is left to its senders")
        return
      }
      let now = WallClock.monotonicSeconds()
      if ready.listener { letIn(at: now) }
      if mayRead { readInTurns(ready.clients, at: now) }
      tellRefusals(at: now)
      write()
      closeIdle(at: now)
    }
    drain()
  }

  // MARK: Waiting

  private struct Ready {
    var signals = false
    var mailbox = false
    var listener = false
    var clients: Set<Int32> = []
  }

  /// Whether there is room for more records.
  var mayRead: Bool { pending.count < limits.waiting }

  private func wait() -> Ready {
    let now = WallClock.monotonicSeconds()
    var entries = [signals.descriptor, mailbox.wakeup.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let letsIn = (closedUntil ?? now) <= now
    // A negative descriptor is passed over.
    entries.append(pollfd(fd: letsIn ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0))
    if mayRead {
      for share in shares.values {
        for client in share.clients {
          entries.append(pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0))
        }
      }
    }
    let result = poll(
      &entries, nfds_t(entries.count), Int32(max(0, (nextMoment(after: now) - now) * 1000).rounded(.up)))
    guard result > 0 else { return Ready() }
    return Ready(
      signals: entries[0].revents != 0, mailbox: entries[1].revents != 0, listener: entries[2].revents != 0,
      clients: Set(entries[3...].filter { $0.revents != 0 }.map(\.fd)))
  }

  /// When there is something to do though nothing happens; within a minute.
  private func nextMoment(after now: Moment) -> Moment {
    var next = now + 60
    if let due = pending.due { next = min(next, max(due, pausedUntil ?? due)) }
    if let closedUntil { next = min(next, closedUntil) }
    for share in shares.values {
      if let since = share.refusedSince { next = min(next, since + limits.refusals) }
      for client in share.clients where !client.isWaiting { next = min(next, client.lastHeard + limits.idle) }
    }
    return next
  }

  private func take(_ lookAnew: () -> Void) {
    while let signal = signals.next() {
      switch signal {
      case .stop: isStopping = true
      case .lookAnew: lookAnew()
      }
    }
  }

  func takeMail() {
    let now = WallClock.monotonicSeconds()
    for record in mailbox.take() { pending.add(record, at: now) }
  }

  // MARK: Letting in

  /// Root and who runs the agent may use the connections that are kept for them.
  private func isFavoured(_ user: UInt32) -> Bool { user == 0 || user == ProcessIdentity.effectiveUserID }

  private func hasRoom(for user: UInt32) -> Bool {
    connections < limits.allConnections - (isFavoured(user) ? 0 : limits.reservedConnections)
  }

  /// Closes a connection, so that another can have its place; what was not read of it goes into its program's spool.
  /// - Returns: false where none may be closed.
  private func makeRoom(at now: Moment) -> Bool {
    let held = shares.lazy.filter { !self.isFavoured($0.key) }.flatMap { user, share in
      share.clients.map {
        UserGroups.Connection(user: user, descriptor: $0.descriptor, lastHeard: $0.lastHeard, isWaiting: $0.isWaiting)
      }
    }
    guard let last = groups.dispensable(of: Array(held)), var share = shares[last.user] else { return false }
    share.refuse(.connections, at: now)
    refused += 1
    close([last.descriptor], in: &share)
    if share.clients.isEmpty { turns.removeAll { $0 == last.user } }
    shares[last.user] = share
    return true
  }

  func letIn(at now: Moment) {
    for _ in 0..<limits.acceptances {
      do throws(Errno) {
        guard let socket = try listener.accept() else { return }
        let peer = try socket.peer()
        let hasShare = shares[peer.userID]?.clients.count ?? 0 < limits.connections
        let isLetIn = hasShare && (hasRoom(for: peer.userID) || makeRoom(at: now))
        var share = shares[peer.userID] ?? UserShare(limits, at: now)
        if isLetIn {
          if share.clients.isEmpty { turns.append(peer.userID) }
          share.clients.append(Client(socket, peer, at: now))
          connections += 1
        } else {
          share.refuse(.connections, at: now)
          refused += 1
        }
        shares[peer.userID] = share
      } catch {
        report("cannot let a program in: \(error)")
        closedUntil = now + limits.retry
        return
      }
    }
  }
}
