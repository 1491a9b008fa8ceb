import CSockets
import Glibc

/// One end of a connection between processes of this machine that carries whole packets and never waits.
///
/// Paths may be longer than the 107 bytes that the kernel takes.
public struct PacketSocket: ~Copyable {
  /// For `poll`.
  public let descriptor: Int32

  init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Connects to who listens at `path`.
  /// - Throws: `noSuchFile` and `connectionRefused` where nobody does, `wouldBlock` where too many wait already.
  public static func connect(_ path: String) throws(FileError) -> PacketSocket {
    do throws(Errno) {
      return PacketSocket(owning: try SocketPath.use(path) { socket_connect($0) })
    } catch {
      throw FileError("connect to", path: path, errno: error)
    }
  }

  /// Sends one packet; of an empty one nothing is sent.
  /// - Throws: `wouldBlock` where the peer does not read, `brokenPipe` where it is gone.
  public func send(_ packet: [UInt8]) throws(Errno) {
    let sent = packet.withUnsafeBytes { bytes in
      bytes.baseAddress.map { socket_send(descriptor, $0, bytes.count) } ?? 0
    }
    if sent < 0 { throw .current }
  }

  /// What came of receiving.
  public enum Reception: Hashable, Sendable {
    /// A packet, in the first bytes of the memory.
    case packet(count: Int)
    /// A packet that is longer than the memory; what did not fit is lost.
    case tooLong(count: Int)
    /// Nothing is there now.
    case nothing
    /// The peer is gone.
    case end
  }

  /// Receives one packet, if one is there. An empty packet can't be told from the end, and counts as that.
  public func receive(into memory: UnsafeMutableRawBufferPointer) -> Reception {
    guard let start = memory.baseAddress else { return .end }
    var count = socket_receive(descriptor, start, memory.count)
    // That the peer went away with something of ours unread is told once, and before the packets that it had sent.
    if count < 0, Errno.current.rawValue == ECONNRESET { count = socket_receive(descriptor, start, memory.count) }
    if count > memory.count { return .tooLong(count: count) }
    if count > 0 { return .packet(count: count) }
    return count < 0 && Errno.current == .wouldBlock ? .nothing : .end
  }

  /// Waits until there is something to receive, or, with `orToSend`, room to send.
  /// - Returns: false when `seconds` have passed.
  public func wait(orToSend: Bool = false, seconds: Double) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN) | (orToSend ? Int16(POLLOUT) : 0), revents: 0)
    let deadline = WallClock.monotonicSeconds() + seconds
    while true {
      let left = deadline - WallClock.monotonicSeconds()
      let result = poll(&entry, 1, Int32(max(0, min(left, 3600)) * 1000))
      if result > 0 { return true }
      if result == 0 || Errno.current.rawValue != EINTR { return false }
    }
  }
}

/// A socket at which other processes ask for connections.
public struct ListeningSocket: ~Copyable {
  /// For `poll`.
  public let descriptor: Int32

  deinit { close(descriptor) }

  private init(owning descriptor: Int32) { self.descriptor = descriptor }

  /// Listens at a path. Its folder has to be one in which only trusted programs write; a socket at which nobody listens
  /// any more is removed.
  ///
  /// - Parameter mode: who may connect: whoever may write.
  /// - Throws: `addressInUse` where somebody listens there.
  public static func listen(at path: String, mode: UInt32) throws(FileError) -> ListeningSocket {
    do throws(Errno) {
      if let metadata = try? FileMetadata.of(path, followingLinks: false) {
        guard metadata.mode & S_IFMT == S_IFSOCK else { throw .fileExists }
        guard isAbandoned(path) else { throw .addressInUse }
        unlink(path)
      }
      return ListeningSocket(owning: try SocketPath.use(path) { socket_listen($0, mode) })
    } catch {
      throw FileError("listen at", path: path, errno: error)
    }
  }

  /// Whether nobody listens at a socket any more.
  private static func isAbandoned(_ path: String) -> Bool {
    do throws(FileError) {
      _ = try PacketSocket.connect(path)
      return false
    } catch {
      return error.errno == .connectionRefused
    }
  }

  /// Takes over a descriptor that a service manager opened; nil where it is no such socket.
  public init?(handedOver descriptor: Int32) {
    guard socket_is_listener(descriptor) else { return nil }
    self.init(owning: descriptor)
  }

  /// The next connection; nil where nobody asks for one now.
  /// - Throws: what this process lacks, such as descriptors.
  public func accept() throws(Errno) -> PacketSocket? {
    while true {
      let number = socket_accept(descriptor)
      if number >= 0 { return PacketSocket(owning: number) }
      switch Errno.current.rawValue {
      case EINTR, ECONNABORTED: continue
      case EAGAIN: return nil
      default: throw .current
      }
    }
  }
}

/// The way to a socket whose path is longer than the kernel takes: through a descriptor of its folder.
private enum SocketPath {
  static func use(_ path: String, _ body: (UnsafePointer<CChar>) -> Int32) throws(Errno) -> Int32 {
    var result: Int32
    if path.utf8.count <= 107 {
      result = path.withCString(body)
    } else {
      let folder = open(FilePath.parent(of: path), O_DIRECTORY | O_CLOEXEC)
      if folder < 0 { throw .current }
      result = "/proc/self/fd/\(folder)/\(FilePath.name(of: path))".withCString(body)
      let error = Errno.current
      close(folder)
      if result < 0 { throw error }
    }
    if result < 0 { throw .current }
    return result
  }
}
