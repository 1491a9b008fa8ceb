import Glibc
import LinuxFiles
import Testing

@Suite struct PacketSocketTests {
  /// A program that ends at once leaves its packets behind, and our answers unread; nothing of what it sent may be lost.
  @Test func whatAPeerSentIsReceivedThoughItWentWithoutReading() throws {
    let path = "/tmp/packet-socket-tests.\(getpid()).\(UInt32.random(in: 0 ... .max))"
    defer { unlink(path) }
    let listening = try ListeningSocket.listen(at: path, mode: 0o600)
    let ours = try PacketSocket.connect(path)
    guard let accepted = try listening.accept() else {
      Issue.record("nobody asked for a connection")
      return
    }
    for number in 0..<40 { try ours.send([UInt8(number)]) }
    try accepted.send([1])
    _ = consume ours
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
    defer { memory.deallocate() }
    var received: [UInt8] = []
    while case .packet(let count) = accepted.receive(into: memory) {
      #expect(count == 1)
      received.append(memory[0])
    }
    #expect(received == (0..<40).map { UInt8($0) })
    #expect(accepted.receive(into: memory) == .end)
  }
}
