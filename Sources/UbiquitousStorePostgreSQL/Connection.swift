import CPostgreSQL
import Glibc
import LinuxFiles

/// One connection to the server, and the only place that waits for it: nothing here waits longer than its deadline.
///
/// Statements go out in groups: one group is one round trip and one transaction. All of it is done, or nothing.
struct Connection: ~Copyable {
  private let handle: OpaquePointer

  /// - Parameter handle: a connection that stands; it becomes this value's.
  init(_ handle: OpaquePointer) throws(ServerFault) {
    self.handle = handle
    // Notices would go to the program's standard error. What matters comes as the fault of a statement.
    PQsetNoticeReceiver(handle, { _, _ in }, nil)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
      throw .unreachable(Self.message(of: handle))
    }
  }

  deinit { PQfinish(handle) }

  /// Readable when something came from the server. Not to be closed, read or written.
  var descriptor: Int32 { PQsocket(handle) }

  /// Whether the connection is encrypted by TLS.
  var isEncrypted: Bool { PQsslInUse(handle) == 1 }

  /// What went wrong last, in libpq's words, on one line.
  static func message(of handle: OpaquePointer) -> String {
    String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
      .map { String($0.drop { $0 == " " || $0 == "\t" }) }.joined(separator: "; ")
  }

  /// Has the server carry out calls as one transaction, in one round trip.
  ///
  /// - Parameter seconds: how long it may take at most. After that the connection is of no use.
  /// - Returns: the rows of each call. That it returns means that the transaction is committed.
  /// - Throws: the first fault; then nothing of the group has happened, except where it is `.unreachable`: then it may have.
  func carryOut(_ calls: [Call], within seconds: Double = 30) throws(ServerFault) -> [Rows] {
    for call in calls where !call.send(on: handle) { throw lost() }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    let deadline = WallClock.monotonicSeconds() + seconds
    var rows: [Rows] = []
    rows.reserveCapacity(calls.count)
    var fault: ServerFault?
    var missing = 0
    while true {
      try awaitResult(until: deadline)
      guard let result = PQgetResult(handle) else {
        // One comes between the answers to two calls; more than that comes of a connection that is gone.
        missing += 1
        if missing > 1 { throw lost() }
        continue
      }
      missing = 0
      switch PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC:
        PQclear(result)
        if let fault { throw fault }
        guard rows.count == calls.count else { throw .unreachable("the server answered other than it was asked") }
        return rows
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK: rows.append(Rows(result))
      case PGRES_PIPELINE_ABORTED: PQclear(result)
      default:
        if fault == nil { fault = Self.fault(in: result) }
        PQclear(result)
        if PQstatus(handle) != CONNECTION_OK { throw fault ?? lost() }
      }
    }
  }

  /// Sends what is left to send and takes what has come, until an answer is whole.
  private func awaitResult(until deadline: Double) throws(ServerFault) {
    while true {
      let unsent = PQflush(handle)
      if unsent < 0 { throw lost() }
      if unsent == 0, PQisBusy(handle) == 0 { return }
      let left = deadline - WallClock.monotonicSeconds()
      guard left > 0 else { throw .unreachable("no answer in time") }
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN | (unsent > 0 ? POLLOUT : 0)), revents: 0)
      guard poll(&watched, 1, Int32(min(left * 1000 + 1, 60_000))) >= 0 || errno == EINTR else {
        throw .unreachable("\(Errno.current)")
      }
      if watched.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0, PQconsumeInput(handle) == 0 { throw lost() }
    }
  }

  /// Takes the hints that have come, without waiting.
  ///
  /// - Returns: the channels of those that others caused: what this connection did itself is no news.
  func takeHints() throws(ServerFault) -> Set<String> {
    // Until nothing is left to read: the end of the connection comes after the server's last words.
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat {
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    } while poll(&watched, 1, 0) > 0
    var channels: Set<String> = []
    while let hint = PQnotifies(handle) {
      if hint.pointee.be_pid != PQbackendPID(handle) { channels.insert(String(cString: hint.pointee.relname)) }
      PQfreemem(hint)
    }
    // Where the server took its leave, libpq says so here.
    if PQstatus(handle) != CONNECTION_OK { throw lost() }
    return channels
  }

  private func lost() -> ServerFault { .unreachable(Self.message(of: handle)) }

  private static func fault(in result: OpaquePointer) -> ServerFault {
    func field(_ letter: UInt8) -> String? { PQresultErrorField(result, Int32(letter)).map { String(cString: $0) } }
    // A fault without a code is libpq's own: the connection is gone.
    guard let code = field(UInt8(ascii: "C")) else {
      return .unreachable(
        String(cString: PQresultErrorMessage(result)).split(whereSeparator: \.isNewline).joined(separator: "; "))
    }
    return ServerFault(code: code, message: field(UInt8(ascii: "M")) ?? "")
  }
}
