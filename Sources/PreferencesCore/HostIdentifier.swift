import Glibc
import LinuxFiles

/// What stands for this machine in the names of per-host preference files.
///
/// The machine's own id is confidential, so it never becomes part of a file's name. What does is derived from it as systemd
/// derives ids for applications (sd_id128_get_machine_app_specific(3)): HMAC-SHA256 over our application id, keyed by the
/// machine's, shortened to 128 bits, with the version and variant of a random UUID. On a machine with systemd, `systemd-id128
/// machine-id --app-specific=a85c260794674711ae0a6993effeb8c3` prints the same.
public enum HostIdentifier {
  static let digitCount = 32

  /// 32 lower-case hexadecimal digits; the same for every user and program of a machine, never empty.
  ///
  /// From `/etc/machine-id`, else D-Bus's copy. A machine that has neither (some containers; a first boot) has the
  /// identifier of its host name: it lasts as long as the name does. Read once for a process.
  public static func current() -> String { ofThisMachine }

  private static let ofThisMachine: String = {
    for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
      if let (text, _) = try? WholeFile.read(path, limit: 4096), let id = machineID(in: text) {
        return derived(fromMachineID: id)
      }
    }
    return derived(fromHostName: hostName())
  }()

  /// Our application id: random, fixed for ever, since files are named by what is derived from it.
  static let applicationID: [UInt8] = [
    0xa8, 0x5c, 0x26, 0x07, 0x94, 0x67, 0x47, 0x11, 0xae, 0x0a, 0x69, 0x93, 0xef, 0xfe, 0xb8, 0xc3,
  ]

  /// The id of a `machine-id` file's text: 32 hexadecimal digits and, as a rule, a new line. nil for anything else,
  /// such as the `uninitialized` of a first boot, and for an id of zeros.
  static func machineID(in text: [UInt8]) -> [UInt8]? {
    var digits = text[...]
    if digits.last == UInt8(ascii: "\n") { digits.removeLast() }
    guard digits.count == 32 else { return nil }
    var id: [UInt8] = []
    for start in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
      let pair = digits[start..<(start + 2)]
      guard pair.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
      guard let byte = UInt8(String(decoding: pair, as: UTF8.self), radix: 16) else { return nil }
      id.append(byte)
    }
    return id.allSatisfy { $0 == 0 } ? nil : id
  }

  static func derived(fromMachineID id: [UInt8]) -> String {
    var bytes = Array(SHA256.authenticationCode(of: applicationID, key: id).prefix(16))
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The fallback: the name's digest in the place of a machine's id.
  static func derived(fromHostName name: String) -> String {
    derived(fromMachineID: Array(SHA256.digest(of: Array("host name \(name)".utf8)).prefix(16)))
  }

  private static func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    if gethostname(&buffer, buffer.count - 1) != 0 { return "localhost" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
