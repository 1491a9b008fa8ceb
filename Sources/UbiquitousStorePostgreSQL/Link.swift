import LinuxFiles
import Synchronization

/// The one connection of a back end, opened when it is needed and let go when it breaks.
///
/// It is let go also where the server refuses: the account, the role or the schema for which it was opened may be gone, or may have
/// been made anew, which only a new connection finds out. A refused transaction changed nothing, so what an old connection refused
/// is asked of a new one at once. Nothing else is tried twice here.
final class Link: Sendable {
  let service: String
  /// Raised when the connection broke, for who waits for it.
  let wakeup: Wakeup

  private let lock = Mutex(())
  /// Guarded by the lock.
  nonisolated(unsafe) private var session: Session?

  init(service: String, wakeup: Wakeup) {
    self.service = service
    self.wakeup = wakeup
  }

  /// Has work done over the connection.
  ///
  /// - Returns: what it gave, and the applications that hints came for meanwhile.
  func perform<R: Sendable>(
    _ work: (borrowing Connection, String) throws(ServerFault) -> R
  ) throws(ServerFault) -> (R, hinted: Set<String>) {
    try lock.withLock { _ throws(ServerFault) -> (R, hinted: Set<String>) in
      // A connection that ended while nobody used it is told from one that ends with a change under way: nothing was sent yet.
      var channels: Set<String> = []
      if session != nil {
        do throws(ServerFault) { channels = try session!.connection.takeHints() } catch { drop() }
      }
      let isOld = session != nil
      do throws(ServerFault) {
        return try attempt(work, &channels)
      } catch {
        guard isOld && session == nil && !error.isUnreachable else { throw error }
        return try attempt(work, &channels)
      }
    }
  }

  private func attempt<R: Sendable>(
    _ work: (borrowing Connection, String) throws(ServerFault) -> R, _ channels: inout Set<String>
  ) throws(ServerFault) -> (R, hinted: Set<String>) {
    try open()
    do throws(ServerFault) {
      let result = try work(session!.connection, session!.account)
      channels.formUnion(try session!.connection.takeHints())
      return (result, applications(of: channels))
    } catch {
      switch error {
      case .unreachable, .refused, .unusable: drop()
      case .interrupted, .clockTooFarAhead, .noRoom, .invalid: break
      }
      throw error
    }
  }

  /// Sees to it that hints for these applications come, and for no others.
  ///
  /// - Returns: the applications that hints came for, those included that are listened to from now on: what came before is not known.
  ///   And the descriptor that is readable when the next may have come.
  func listen(to applications: Set<String>) throws(ServerFault) -> (hinted: Set<String>, descriptor: Int32) {
    try lock.withLock { _ throws(ServerFault) -> (hinted: Set<String>, descriptor: Int32) in
      try open()
      do throws(ServerFault) {
        var hinted = self.applications(of: try session!.connection.takeHints())
        for (channel, application) in session!.listening where !applications.contains(application) {
          _ = try session!.connection.carryOut([.once("UNLISTEN \(channel)")])
          session!.listening[channel] = nil
        }
        for application in applications.subtracting(session!.listening.values).sorted() {
          let answer = try session!.connection.carryOut([
            .prepared(.channel, .bytes(Array(application.utf8)))
          ])
          // The schema makes it of letters and digits; LISTEN takes no values.
          let channel = answer[0].count == 1 ? answer[0].text(0, 0) : ""
          guard channel.hasPrefix("us_"), channel.utf8.allSatisfy({ $0 == 0x5F || ($0 | 0x20).isLetterOrDigit }) else {
            throw .unusable("the database names the channel \"\(channel)\"")
          }
          _ = try session!.connection.carryOut([.once("LISTEN \(channel)")])
          session!.listening[channel] = application
          hinted.insert(application)
        }
        return (hinted, session!.connection.descriptor)
      } catch {
        drop()
        throw error
      }
    }
  }

  /// Ends the connection, if there is one.
  func close() { lock.withLock { _ in drop() } }

  private func open() throws(ServerFault) {
    if session == nil { session = try Connection.open(service: service) }
  }

  private func applications(of channels: Set<String>) -> Set<String> {
    Set(session!.listening.filter { channels.contains($0.key) }.values)
  }

  private func drop() {
    guard session != nil else { return }
    session = nil
    wakeup.raise()
  }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }
}
