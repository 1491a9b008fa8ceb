import LinuxFiles
import PropertyList

/// What programs and the agent say to each other over its socket.
///
/// The law: a packet is one event as `AuditEvent.jsonLine` writes it, or a question. The agent answers to events, when it
/// likes, with a number in decimal digits: of how many packets of this connection, counted from its first, it has disposed.
/// That is: they are in the audit log on the disk, or the agent refused them (too many, not an event) and will say so in the
/// log. What was not answered when a connection ends is the sender's still. The question is `{"ask":"status"}`.
public enum AgentProtocol {
  /// No packet is longer.
  public static let packetBytes = 65_536
  public static let statusQuestion = #"{"ask":"status"}"#

  /// Sends packets over a connection of their own and waits for the agent's word.
  ///
  /// - Parameter patience: seconds to wait for anything to happen.
  /// - Returns: how many of the packets, from the first on, are disposed of.
  static func deliver(_ packets: ArraySlice<[UInt8]>, to path: String, patience: Double) -> Int {
    guard let socket = try? PacketSocket.connect(path) else { return 0 }
    var next = packets.startIndex
    var kept = 0
    var isOpen = true
    let deadline = WallClock.monotonicSeconds() + patience
    while kept < packets.count, isOpen {
      while isOpen, next < packets.endIndex {
        do throws(Errno) {
          try socket.send(packets[next])
          next += 1
        } catch {
          // What was answered before the agent went still counts.
          if error == .wouldBlock { break }
          isOpen = false
        }
      }
      let left = deadline - WallClock.monotonicSeconds()
      guard left > 0, socket.wait(orToSend: isOpen && next < packets.endIndex, seconds: left) else { break }
      if !receive(from: socket, &kept) { isOpen = false }
    }
    return min(kept, packets.count)
  }

  /// Takes in the answers that are there.
  /// - Returns: false at the end of the connection, and for what is no answer.
  private static func receive(from socket: borrowing PacketSocket, _ kept: inout Int) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 32, alignment: 1) { memory in
      while true {
        switch socket.receive(into: memory) {
        case .nothing: return true
        case .end, .tooLong: return false
        case .packet(let length):
          guard let number = Int(String(decoding: memory.prefix(length), as: UTF8.self)) else { return false }
          kept = max(kept, number)
        }
      }
    }
  }
}

/// What an agent says of itself to whoever asks.
public struct AgentStatus: Hashable, Sendable {
  public var processID: Int
  /// Unix seconds.
  public var started: Int64
  public var heartbeat: Int64
  /// Records that it has brought into the log, and events that it has refused, since it started.
  public var kept: Int
  public var refused: Int
  /// Files in users' spools that it leaves alone, since they are not of its host and installation.
  public var spoolsLeft: Int
  /// Why it can't write the log at the moment.
  public var fault: String?

  public init(
    processID: Int, started: Int64, heartbeat: Int64, kept: Int, refused: Int, spoolsLeft: Int = 0,
    fault: String?
  ) {
    self.processID = processID
    self.started = started
    self.heartbeat = heartbeat
    self.kept = kept
    self.refused = refused
    self.spoolsLeft = spoolsLeft
    self.fault = fault
  }

  /// What came of asking.
  public enum Answer: Hashable, Sendable {
    case status(AgentStatus)
    /// Somebody listens, and gives no answer in time: the agent is full, held up, or being started.
    case silence
    /// Nobody listens.
    case nobody
  }

  /// Asks the agent that listens at a path.
  /// - Parameter patience: seconds.
  public static func answer(at path: String, patience: Double = 1) -> Answer {
    do throws(FileError) {
      let status = try PacketSocket.connect(path).askStatus(patience)
      return status.map { .status($0) } ?? .silence
    } catch {
      return error.errno == .noSuchFile || error.errno == .connectionRefused ? .nobody : .silence
    }
  }

  /// The status of the agent that listens at a path; nil where none answers in time.
  public static func ask(at path: String, patience: Double = 1) -> AgentStatus? {
    guard case .status(let status) = answer(at: path, patience: patience) else { return nil }
    return status
  }

  /// One JSON object.
  public var bytes: [UInt8] {
    var json = JSONWriter(pretty: false)
    json.beginObject()
    json.key("pid")
    json.integer(processID)
    json.key("started")
    json.integer(started)
    json.key("heartbeat")
    json.integer(heartbeat)
    json.key("kept")
    json.integer(kept)
    json.key("refused")
    json.integer(refused)
    json.key("spoolsLeft")
    json.integer(spoolsLeft)
    if let fault {
      json.key("fault")
      json.string(fault)
    }
    json.endObject()
    return json.bytes
  }

  init?(_ bytes: [UInt8]) {
    guard let members = try? PropertyListCoding.decode(bytes, as: .json).dictionaryValue,
      let process = members["pid"]?.integerValue, let started = members["started"]?.integerValue,
      let heartbeat = members["heartbeat"]?.integerValue, let kept = members["kept"]?.integerValue,
      let refused = members["refused"]?.integerValue
    else { return nil }
    self.init(
      processID: process, started: Int64(started), heartbeat: Int64(heartbeat), kept: kept, refused: refused,
      spoolsLeft: members["spoolsLeft"]?.integerValue ?? 0, fault: members["fault"]?.stringValue)
  }
}

extension PacketSocket {
  fileprivate borrowing func askStatus(_ patience: Double) -> AgentStatus? {
    guard (try? send(Array(AgentProtocol.statusQuestion.utf8))) != nil, wait(seconds: patience) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let reception = bytes.withUnsafeMutableBytes { receive(into: $0) }
    guard case .packet(let count) = reception else { return nil }
    return AgentStatus(Array(bytes[..<count]))
  }
}
