import AuditEvents
import Glibc
import LinuxFiles
import PropertyList

// A program that sends events, for the tests of the agent.
//
//   AgentPeer send SOCKET SPOOL COUNT [HOST ROOT]    through the sink that applications use, as a program of that host and
//                                        installation that waits long; prints how many were lost
//   AgentPeer cost SOCKET SPOOL COUNT    the same in bursts of 100; prints what an event cost its sender, in nanoseconds
//   AgentPeer flood SOCKET               as much as can be sent, over as many connections as can be held, until killed
//   AgentPeer hold SOCKET                holds 32 connections, says so, and sends what is no event over them, until killed
//   AgentPeer forge SOCKET               what a program that lies may try; prints how many packets it sent

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

func hold(_ socket: String) -> Never {
  var held: [Held] = []
  for _ in 0..<32 {
    if let connection = try? PacketSocket.connect(socket) { held.append(Held(connection)) }
  }
  StandardStreams.writeError("\(held.count)\n")
  while true {
    for connection in held { try? connection.socket.send(Array(#"{"ask":"x"}"#.utf8)) }
    usleep(500_000)
  }
}

/// Sends a packet with a descriptor of ours beside it.
func pass(_ descriptor: Int32, with packet: [UInt8], over connection: borrowing PacketSocket) -> Bool {
  // struct cmsghdr and one descriptor, filled up to eight bytes.
  var control = [UInt64](repeating: 0, count: 3)
  var bytes = packet
  let socket = connection.descriptor
  return control.withUnsafeMutableBytes { control in
    control.storeBytes(of: 20, as: UInt64.self)
    control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
    control.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)  // SCM_RIGHTS
    control.storeBytes(of: descriptor, toByteOffset: 16, as: Int32.self)
    return bytes.withUnsafeMutableBytes { bytes in
      var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
      return withUnsafeMutablePointer(to: &part) { part in
        var message = msghdr()
        message.msg_iov = part
        message.msg_iovlen = 1
        message.msg_control = control.baseAddress
        message.msg_controllen = control.count
        return sendmsg(socket, &message, 0) >= 0
      }
    }
  }
}

/// Claims to be others, tells what only root's commands and the agent can know, sends what is no event, passes descriptors,
/// opens thousands of connections and leaves some half open.
func forge(_ socket: String) throws {
  let others = AuditEvent.Claim(processID: 1, userID: 0, executable: "/usr/bin/policyctl")
  var packets = [
    AuditEvent(.forcedWrite, fields: ["domain": .string("org.example.Peer"), "key": .string("Claimed")], claim: others)
      .jsonLine()
  ]
  for kind in [
    "policy.installed", "policy.refreshed", "policy.rolled-back", "policy.refused", "policy.uninstalled",
    "policy.window-opened", "policy.window-closed", "policy.stale", "identity.unknown", "host.enrolled", "key.trusted",
    "agent.started", "agent.stopped", "agent.heartbeat", "audit.began", "audit.rotated", "audit.recovered",
    "audit.alarm", "audit.acknowledged", "audit.checkpoint", "audit.erased", "audit.set-aside", "audit.dropped",
    "event.unheard-of",
  ] {
    packets.append(AuditEvent(.init(rawValue: kind), fields: ["generation": .integer(99)], claim: others).jsonLine())
  }
  packets.append([UInt8](repeating: 0x20, count: AgentProtocol.packetBytes + 1))
  packets.append(Array(#"{"kind":"forced.write","time":"2027-01-15T08:00:00Z""#.utf8))
  var text = #"{"seq":1,"prev":"","kind":"policy.installed","attested":{"uid":0},"fields":{}}"#
  text += "\n" + text
  packets.append(Array(text.utf8))
  let own = try PacketSocket.connect(socket)
  for packet in packets { try own.send(packet) }
  var passed = 0
  for _ in 0..<50 where pass(0, with: event(0).jsonLine(), over: own) { passed += 1 }
  var held: [Held] = []
  for number in 0..<3000 {
    guard let connection = try? PacketSocket.connect(socket) else { continue }
    if number % 100 == 0 {
      // Half open: nothing more comes over it, and it is not closed.
      shutdown(connection.descriptor, Int32(SHUT_WR))
      held.append(Held(connection))
    }
  }
  print(packets.count + passed)
}

let words = CommandLine.arguments
switch (words.count, words.dropFirst().first) {
case (5, "send"), (7, "send"):
  let origin = words.count == 7 ? SpoolOrigin(host: words[5], root: words[6]) : SpoolOrigin(host: "peer", root: "")
  let sink = AgentSink(at: words[2], spool: AuditSpool(of: origin, directory: words[3]), patience: 120)
  for number in 0..<(Int(words[4]) ?? 0) {
    sink.send(event(number))
    if number % 100 == 99 { sink.flush() }
  }
  sink.flush()
  print(sink.dropped)
case (5, "cost"):
  let sink = AgentSink(at: words[2], spool: AuditSpool(of: SpoolOrigin(host: "peer", root: ""), directory: words[3]))
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
case (3, "hold"): hold(words[2])
case (3, "forge"): try forge(words[2])
default: exit(64)
}
