internal import Glibc

/// What is wrong with a host's name.
public struct HostNameError: Error, Hashable, Sendable, CustomStringConvertible {
  public let name: String
  public let why: String
  public var description: String { "'\(name)' can't be a host's name: \(why)" }
}

/// Names of hosts, short (`lab-a-03`) or full (`lab-a-03.lab.example.org`).
public enum HostName {
  /// Refuses what is no host name by RFC 1123 (an underscore, which real networks have, is let pass).
  public static func validate(_ name: String) throws(HostNameError) {
    if name.isEmpty { throw HostNameError(name: name, why: "it is empty") }
    if name.utf8.count > 253 { throw HostNameError(name: name, why: "it has more than 253 characters") }
    for label in name.split(separator: ".", omittingEmptySubsequences: false) {
      if label.isEmpty { throw HostNameError(name: name, why: "a part between dots is empty") }
      if label.utf8.count > 63 { throw HostNameError(name: name, why: "a part has more than 63 characters") }
      if label.hasPrefix("-") || label.hasSuffix("-") {
        throw HostNameError(name: name, why: "a part begins or ends with a hyphen")
      }
      for byte in label.utf8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          continue
        default: throw HostNameError(name: name, why: "only letters, digits, hyphens and dots may stand in it")
        }
      }
    }
  }

  /// The name that the system gives itself now: what `init` enrols a host under unless told otherwise.
  public static func ofThisSystem() -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let result = buffer.withUnsafeMutableBytes { bytes in
      gethostname(bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count - 1)
    }
    return result == 0 ? String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) : ""
  }
}
