import AuditEvents
import Glibc
import LinuxFiles

// Reading from each user in turn.
extension Agent {
  func readInTurns(_ ready: Set<Int32>, at now: Moment) {
    guard !ready.isEmpty else { return }
    // Who was first in this round is last in the next.
    if !turns.isEmpty { turns.append(turns.removeFirst()) }
    for user in turns where mayRead {
      guard var share = shares[user] else { continue }
      read(&share, of: user, ready, at: now)
      shares[user] = share
    }
    turns.removeAll { shares[$0]?.clients.isEmpty != false }
  }

  private func read(_ share: inout UserShare, of user: UInt32, _ ready: Set<Int32>, at now: Moment) {
    var left = limits.packets
    // Within a user's turn the connections take turns as well.
    if share.clients.count > 1 { share.clients.append(share.clients.removeFirst()) }
    var gone: Set<Int32> = []
    for client in share.clients where ready.contains(client.descriptor) {
      while left > 0, mayRead {
        let reception = memory.withUnsafeMutableBytes { client.socket.receive(into: $0) }
        if reception == .nothing { break }
        left -= 1
        switch reception {
        case .packet(let count): take(count, from: client, &share, at: now)
        case .tooLong:
          refuse(.oversized, client, &share, at: now)
        default: gone.insert(client.descriptor)
        }
        if reception == .end { break }
      }
      if left == 0 { break }
    }
    close(gone, in: &share)
  }

  private func take(_ count: Int, from client: Client, _ share: inout UserShare, at now: Moment) {
    let packet = memory.withUnsafeBytes { IncomingPacket(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    switch packet {
    case .status:
      // Who asks and does not read the answer has lost it; that is no reason to wait.
      try? client.socket.send(status.bytes)
    case .refused(let why): refuse(why, client, &share, at: now)
    case .event(let event):
      let record = AgentRecord(
        event,
        attestation: .process(user: client.user, process: client.process, executable: client.executable))
      let sameness = PendingRecords.Sameness(record, user: client.user, executable: client.executable)
      if !pending.gather(sameness) {
        guard share.bucket.take(at: now) else { return refuse(.rate, client, &share, at: now) }
        pending.add(record, sameness, at: now)
      }
      client.noteWaiting(at: now)
    }
  }

  private func refuse(_ why: IncomingPacket.Refusal, _ client: Client, _ share: inout UserShare, at now: Moment) {
    share.refuse(why, at: now)
    refused += 1
    client.noteRefused()
  }

  private var status: AgentStatus {
    AgentStatus(
      processID: Int(getpid()), started: started, heartbeat: mailbox.lastHeartbeat, kept: kept, refused: refused,
      spoolsLeft: mailbox.spoolsLeft, fault: fault?.description)
  }
}
