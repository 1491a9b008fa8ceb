import Glibc
import LinuxFiles

/// One connection of a program.
final class Client {
  let socket: PacketSocket
  let user: UInt32
  let process: Int32
  /// The executable's file, looked up when the connection was taken; nil where that can't be known.
  let executable: String?
  /// Packets that came, of those the ones that are disposed of, and those of which the program knows that.
  private(set) var received = 0
  private var disposed = 0
  private var answered = 0
  /// Packets whose records wait to be written.
  private var waiting = 0
  private(set) var lastHeard: Moment

  init(_ socket: consuming PacketSocket, _ peer: PeerProcess, at now: Moment) {
    executable = socket.peerExecutable()
    user = peer.userID
    process = peer.processID
    lastHeard = now
    self.socket = socket
  }

  var descriptor: Int32 { socket.descriptor }

  /// A packet came whose record waits to be written.
  func noteWaiting(at now: Moment) {
    received += 1
    lastHeard = now
    waiting += 1
  }

  /// A packet was refused: it is done with, and no sign that the program has something to say.
  func noteRefused() { received += 1 }

  /// Answers with how many packets are disposed of, if there is news.
  ///
  /// - Parameter isWritten: all that waited was written.
  /// - Returns: false where the program does not read answers, or is gone.
  func answer(isWritten: Bool) -> Bool {
    if isWritten { waiting = 0 }
    // A packet is disposed of when all before it are; so with one that waits there is no news yet.
    if waiting == 0 { disposed = received }
    guard disposed > answered else { return true }
    answered = disposed
    return (try? socket.send(Array(String(disposed).utf8))) != nil
  }

  /// Whether it may be closed for having nothing to say.
  func isIdle(at now: Moment, after seconds: Double) -> Bool { waiting == 0 && now - lastHeard > seconds }

  var isWaiting: Bool { waiting > 0 }
}

/// One user: connections, the share of the log, and what was refused.
struct UserShare {
  var clients: [Client] = []
  var bucket: TokenBucket
  /// What was refused since `refusedSince`, by reason.
  private(set) var refusals: [IncomingPacket.Refusal: Int] = [:]
  private(set) var refusedSince: Moment?

  init(_ limits: AgentLimits, at now: Moment) {
    bucket = TokenBucket(rate: limits.recordsPerSecond, capacity: limits.burst, at: now)
  }

  mutating func refuse(_ why: IncomingPacket.Refusal, at now: Moment) {
    refusals[why, default: 0] += 1
    if refusedSince == nil { refusedSince = now }
  }

  mutating func takeRefusals() -> [IncomingPacket.Refusal: Int] {
    defer {
      refusals = [:]
      refusedSince = nil
    }
    return refusals
  }

  /// Nothing would be forgotten with it.
  func isForgettable(at now: Moment) -> Bool { clients.isEmpty && refusedSince == nil && bucket.isFull(at: now) }
}
