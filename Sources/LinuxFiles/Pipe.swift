import CSockets

/// A pipe, both ends of which no program that is started meanwhile gets.
public enum Pipe {
  /// - Parameter neverWaits: whether reading and writing fail (`EAGAIN`) where they would wait.
  /// - Returns: the two ends; whoever asked closes them.
  public static func open(neverWaits: Bool = false) throws(Errno) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe_open(&ends, neverWaits) else { throw .current }
    return (ends[0], ends[1])
  }
}
