import LinuxFiles

/// The user's session bus, as the environment tells it.
enum SessionBus {
  static let address = "DBUS_SESSION_BUS_ADDRESS"

  /// The socket's path; nil for a bus that has none.
  static var socketPath: String? { value(of: "path") }

  /// A bus that is reached through the network namespace, where no path hides it: the session's, or another that listens on a
  /// name as D-Bus makes them (`/tmp/dbus-…`). nil where there is none.
  static var abstractSocket: String? {
    if let name = value(of: "abstract") { return name }
    guard let (bytes, _) = try? WholeFile.read("/proc/net/unix", limit: 1 << 26) else { return nil }
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let name = line.split(separator: UInt8(ascii: " ")).last, name.starts(with: "@/tmp/dbus-".utf8) else {
        continue
      }
      return String(decoding: name.dropFirst(), as: UTF8.self)
    }
    return nil
  }

  /// Addresses are `transport:key=value,key=value;transport:…`, the keys in any order.
  private static func value(of key: String) -> String? {
    guard let text = EnvironmentVariables.nonEmpty(address) else { return nil }
    for one in text.split(separator: ";") where one.hasPrefix("unix:") {
      for pair in one.dropFirst(5).split(separator: ",") where pair.hasPrefix(key + "=") {
        return String(pair.dropFirst(key.utf8.count + 1))
      }
    }
    return nil
  }
}
