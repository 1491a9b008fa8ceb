import CSockets
import Glibc

/// Who is at the other end of a socket, by the kernel's word: whoever connected, as it was then.
public struct PeerProcess: Hashable, Sendable {
  public let userID: UInt32
  public let groupID: UInt32
  /// 0 where the process is in a namespace that this one does not see.
  public let processID: Int32
}

extension PacketSocket {
  /// Who connected.
  public func peer() throws(Errno) -> PeerProcess {
    let found = try ask()
    if found.process_descriptor >= 0 { close(found.process_descriptor) }
    return PeerProcess(userID: found.user, groupID: found.group, processID: found.process)
  }

  /// The file that the process which connected executes now; nil where that can't be known.
  ///
  /// The number of a process is given to another one when it ends. So the process is held while its executable is
  /// looked up, and what was found counts only if it lives still: then the number was its own all the time. What is held
  /// is, from Linux 6.5 on, the very process that connected. Before, it is who has the number now, and counts only if it
  /// is the same user's and the connection is open: an honest program that ended is never mistaken for another. Between
  /// programs of one user nothing better is lost, since a user can make any program of his run his code.
  public func peerExecutable() -> String? {
    guard let found = try? ask() else { return nil }
    let isExact = found.process_descriptor >= 0
    guard found.process > 0 else {
      if isExact { close(found.process_descriptor) }
      return nil
    }
    let held = isExact ? found.process_descriptor : process_descriptor(found.process)
    guard held >= 0 else { return nil }
    defer { close(held) }
    let folder = "/proc/\(found.process)"
    guard let executable = SymbolicLink.target(of: folder + "/exe") else { return nil }
    if !isExact {
      guard let owner = try? FileMetadata.of(folder).userID, owner == found.user, !isHungUp else { return nil }
    }
    var entry = pollfd(fd: held, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) == 0 ? executable : nil
  }

  private var isHungUp: Bool {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
  }

  private func ask() throws(Errno) -> socket_peer {
    var found = socket_peer()
    guard socket_ask_peer(descriptor, &found) else { throw .current }
    return found
  }
}
