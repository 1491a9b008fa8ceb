import AuditEvents
import Glibc
import LinuxFiles
import PropertyList

// A program that sends events, for the tests of the agent.
//
//   AgentPeer send SOCKET SPOOL COUNT    through the sink that applications use; prints how many were lost
//   AgentPeer cost SOCKET SPOOL COUNT    the same in bursts of 100; prints what an event cost its sender, in nanoseconds
//   AgentPeer flood SOCKET               as much as can be sent, over as many connections as can be held, until killed

func event(_ number: Int) -> AuditEvent {
  AuditEvent(.forcedWrite, fields: ["domain": .string("org.example.Peer"), "key": .string("Peer \(number)")])
}

final class Held {
  let socket: PacketSocket
  init(_ socket: consuming PacketSocket) { self.socket = socket }
}

func flood(_ socket: String) -> Never {
  var held: [Held] = []
  var number = 0
  let oversized = [UInt8](repeating: 0x20, count: AgentProtocol.packetBytes + 1)
  while true {
    if let connection = try? PacketSocket.connect(socket) { held.append(Held(connection)) }
    if held.count > 400 { held.removeFirst(200) }
    for connection in held.suffix(40) {
      for _ in 0..<10 {
        number += 1
        try? connection.socket.send(event(number).jsonLine())
      }
      try? connection.socket.send(oversized)
    }
  }
}

let words = CommandLine.arguments
switch (words.count, words.dropFirst().first) {
case (5, "send"):
  let sink = AgentSink(at: words[2], spool: AuditSpool(directory: words[3]))
  for number in 0..<(Int(words[4]) ?? 0) {
    sink.send(event(number))
    if number % 100 == 99 { sink.flush() }
  }
  sink.flush()
  print(sink.dropped)
case (5, "cost"):
  let sink = AgentSink(at: words[2], spool: AuditSpool(directory: words[3]))
  var costs: [Double] = []
  for burst in 0..<(Int(words[4]) ?? 0) / 100 {
    let start = WallClock.monotonicSeconds()
    for number in 0..<100 { sink.send(event(burst * 100 + number)) }
    costs.append((WallClock.monotonicSeconds() - start) / 100 * 1e9)
    sink.flush()
  }
  costs.sort()
  print("median \(Int(costs[costs.count / 2])), at most \(Int(costs.last ?? 0)), lost \(sink.dropped)")
case (3, "flood"): flood(words[2])
default: exit(64)
}
