/// The `generation` file: it says that the host is installed, and with what.
///
/// Text, one `name value` a line, so that whoever is called at night can read it. Only "no such file" can mean "not
/// installed". Its generation always increases, also when a roll-back brings an older bundle back.
public struct GenerationMarker: Sendable, Hashable {
  public var generation: UInt64
  public var serial: UInt64
  /// 32 bytes, or empty for a generation without sources (`init`).
  public var sourceDigest: [UInt8]
  public var hostName: String
  /// Unix seconds.
  public var installedAt: Int64
  /// `ForcedDomain.checksum` of this generation's forced file: a file that claims the same generation and has another
  /// checksum is refused.
  public var forcedChecksum: UInt64
  /// Where the policies came from; nil for the empty generation 0.
  public var source: InstalledSource?
  /// The fingerprint (32 bytes) of the trusted key that had signed the bundle; nil where no signature was asked for.
  public var signer: [UInt8]?

  public init(
    generation: UInt64, serial: UInt64, sourceDigest: [UInt8], hostName: String, installedAt: Int64,
    forcedChecksum: UInt64, source: InstalledSource? = nil, signer: [UInt8]? = nil
  ) {
    self.generation = generation
    self.serial = serial
    self.sourceDigest = sourceDigest
    self.hostName = hostName
    self.installedAt = installedAt
    self.forcedChecksum = forcedChecksum
    self.source = source
    self.signer = signer
  }

  static let firstLine = "managed-preferences generation 1"
  static let maximumByteCount = 65_536

  /// The file's contents.
  public var bytes: [UInt8] {
    Array(
      """
      \(Self.firstLine)
      generation \(generation)
      serial \(serial)
      source-digest \(sourceDigest.isEmpty ? "none" : Self.hexadecimal(sourceDigest))
      forced-checksum \(Self.hexadecimal((0..<8).map { UInt8(truncatingIfNeeded: forcedChecksum >> (56 - 8 * $0)) }))
      installed-at \(installedAt)
      host \(hostName)

      """.utf8) + Array(optionalLines.utf8)
  }

  private var optionalLines: String {
    (source.map { "source \($0.line)\n" } ?? "") + (signer.map { "signer \(Self.hexadecimal($0))\n" } ?? "")
  }

  /// Reads the file's contents; nil when they are damaged. Lines with other names are left to later versions.
  public init?(parsing bytes: [UInt8]) {
    guard bytes.count <= Self.maximumByteCount, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.first == Self.firstLine[...], lines.last == "" else { return nil }
    var fields: [String: String] = [:]
    for line in lines.dropFirst().dropLast() {
      guard let space = line.firstIndex(of: " ") else { return nil }
      let name = String(line[..<space])
      guard fields.updateValue(String(line[line.index(after: space)...]), forKey: name) == nil else { return nil }
    }
    guard let generation = fields["generation"].flatMap({ UInt64($0) }),
      let serial = fields["serial"].flatMap({ UInt64($0) }),
      let digest = fields["source-digest"].flatMap({ $0 == "none" ? [] : Self.bytes(hexadecimal: $0) }),
      digest.isEmpty || digest.count == 32,
      let checksum = fields["forced-checksum"].flatMap({ Self.bytes(hexadecimal: $0) }), checksum.count == 8,
      let installedAt = fields["installed-at"].flatMap({ Int64($0) }), let hostName = fields["host"]
    else { return nil }
    self.init(
      generation: generation, serial: serial, sourceDigest: digest, hostName: hostName, installedAt: installedAt,
      forcedChecksum: checksum.reduce(0) { $0 << 8 | UInt64($1) },
      source: fields["source"].flatMap { InstalledSource(line: $0) })
    if let text = fields["signer"] {
      guard let signer = Self.bytes(hexadecimal: text), signer.count == 32 else { return nil }
      self.signer = signer
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = text.utf8.map { byte -> UInt8? in
      switch byte {
      case 0x30...0x39: byte - 0x30
      case 0x61...0x66: byte - 0x61 + 10
      default: nil
      }
    }
    guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
  }
}
