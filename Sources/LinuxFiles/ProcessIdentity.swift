import Glibc

/// Who this process is, as the kernel says it: never as the environment says it.
public enum ProcessIdentity {
  public static var realUserID: UInt32 { getuid() }
  public static var effectiveUserID: UInt32 { geteuid() }
  public static var realGroupID: UInt32 { getgid() }

  /// The real group and the supplementary groups, sorted, without repeats.
  public static func groupIDs() -> [UInt32] {
    let count = getgroups(0, nil)
    var groups = [getgid()]
    if count > 0 {
      groups = [gid_t](repeating: 0, count: Int(count) + 1)
      let got = getgroups(count, &groups)
      groups[Int(max(got, 0))] = getgid()
      groups.removeLast(Int(count) - Int(max(got, 0)))
      groups.sort()
      var kept = 1
      for index in 1..<groups.count where groups[index] != groups[kept - 1] {
        groups[kept] = groups[index]
        kept += 1
      }
      groups.removeLast(groups.count - kept)
    }
    return groups
  }

  /// The executable's real file (`/proc/self/exe` resolved), nil where /proc is not there.
  public static func executablePath() -> String? {
    SymbolicLink.target(of: "/proc/self/exe")
  }

  /// The id under which files of unmapped owners (root outside a user namespace) appear inside one; 65534 as a rule.
  public static func overflowUserID() -> UInt32 {
    guard let (bytes, _) = try? WholeFile.read("/proc/sys/kernel/overflowuid", limit: 64) else { return 65534 }
    let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return UInt32(String(decoding: digits, as: UTF8.self)) ?? 65534
  }

  /// Whether user ids are mapped: the process lives in a user namespace other than the machine's.
  public static func isInUserNamespace() -> Bool {
    guard let (bytes, _) = try? WholeFile.read("/proc/self/uid_map", limit: 65536) else { return false }
    // The machine's own map is one line: 0 0 4294967295.
    var number: UInt64?
    var found = 0
    for byte in bytes + [UInt8(ascii: "\n")] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        number = (number ?? 0) &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"):
        guard let complete = number else { continue }
        guard found < 3, complete == (found == 2 ? 4_294_967_295 : 0) else { return true }
        found += 1
        number = nil
      default: return true
      }
    }
    return found != 3
  }
}

public enum SymbolicLink {
  /// The path without any link in it; nil where it leads to nothing.
  public static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The text of a symbolic link, nil when `path` is none.
  public static func target(of path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}

/// The process's environment.
public enum EnvironmentVariables {
  /// The value of a variable, nil when unset.
  public static func value(_ name: String) -> String? {
    guard let text = getenv(name) else { return nil }
    return String(cString: text)
  }

  /// The value of a variable, nil when unset or empty, as the XDG base directories want it.
  public static func nonEmpty(_ name: String) -> String? {
    guard let value = value(name), !value.isEmpty else { return nil }
    return value
  }
}
