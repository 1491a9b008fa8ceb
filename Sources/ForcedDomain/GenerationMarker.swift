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

  static let firstLine: StaticString = "managed-preferences generation 1"
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
    guard bytes.count <= Self.maximumByteCount else { return nil }
    let marker = bytes.withUnsafeBytes { MarkerLines($0) }.flatMap { Self($0) }
    guard let marker else { return nil }
    self = marker
  }

  private init?(_ lines: MarkerLines) {
    guard let generation = lines.generation, let serial = lines.serial, let digest = lines.sourceDigest,
      let checksum = lines.forcedChecksum, let installedAt = lines.installedAt, let hostName = lines.hostName
    else { return nil }
    self.init(
      generation: generation, serial: serial, sourceDigest: digest, hostName: hostName, installedAt: installedAt,
      forcedChecksum: checksum, source: lines.source, signer: lines.signer)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

/// The lines of a marker, read in place: each process that reads policy does so first, and most do little else.
private struct MarkerLines {
  var generation: UInt64?
  var serial: UInt64?
  var sourceDigest: [UInt8]?
  var forcedChecksum: UInt64?
  var installedAt: Int64?
  var hostName: String?
  var source: InstalledSource?
  var signer: [UInt8]?
  /// Bit per known name: its line was there.
  private var seen: UInt16 = 0
  private var unknown: Set<String> = []

  /// nil for what is no text of lines `name value` behind the first line, names a name twice or has a damaged value.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard isWellFormedUTF8(bytes), bytes.last == UInt8(ascii: "\n") else { return nil }
    var start = 0
    while start < bytes.count {
      var end = start
      while bytes[end] != UInt8(ascii: "\n") { end += 1 }
      let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      guard start == 0 ? line.holds(GenerationMarker.firstLine) : read(line) else { return nil }
      start = end + 1
    }
    guard start > 0 else { return nil }
  }

  private mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return false }
    let name = UnsafeRawBufferPointer(rebasing: line[..<space])
    let value = UnsafeRawBufferPointer(rebasing: line[(space + 1)...])
    func text() -> String { String(decoding: value, as: UTF8.self) }
    if name.holds("generation") {
      generation = Self.decimal(value)
      return isNew(0) && generation != nil
    }
    if name.holds("serial") {
      serial = Self.decimal(value)
      return isNew(1) && serial != nil
    }
    if name.holds("source-digest") {
      sourceDigest = value.holds("none") ? [] : Self.hexadecimal(value, count: 32)
      return isNew(2) && sourceDigest != nil
    }
    if name.holds("forced-checksum") {
      forcedChecksum = Self.hexadecimal(value, count: 8)?.reduce(0) { $0 << 8 | UInt64($1) }
      return isNew(3) && forcedChecksum != nil
    }
    if name.holds("installed-at") {
      installedAt = Self.signedDecimal(value)
      return isNew(4) && installedAt != nil
    }
    if name.holds("host") {
      hostName = text()
      return isNew(5)
    }
    if name.holds("source") {
      source = InstalledSource(line: text())
      return isNew(6)
    }
    if name.holds("signer") {
      signer = Self.hexadecimal(value, count: 32)
      return isNew(7) && signer != nil
    }
    return unknown.insert(String(decoding: name, as: UTF8.self)).inserted
  }

  private mutating func isNew(_ bit: UInt16) -> Bool {
    defer { seen |= 1 << bit }
    return seen >> bit & 1 == 0
  }

  private static func decimal(_ text: UnsafeRawBufferPointer) -> UInt64? {
    guard !text.isEmpty else { return nil }
    var number: UInt64 = 0
    for byte in text {
      let (tens, overflows) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflowsToo) = tens.addingReportingOverflow(UInt64(byte &- 0x30))
      guard byte >= 0x30, byte <= 0x39, !overflows, !overflowsToo else { return nil }
      number = sum
    }
    return number
  }

  private static func signedDecimal(_ text: UnsafeRawBufferPointer) -> Int64? {
    guard text.first == UInt8(ascii: "-") else { return decimal(text).flatMap { Int64(exactly: $0) } }
    return decimal(UnsafeRawBufferPointer(rebasing: text[1...])).flatMap { $0 <= Int64.max ? -Int64($0) : nil }
  }

  private static func hexadecimal(_ text: UnsafeRawBufferPointer, count: Int) -> [UInt8]? {
    guard text.count == 2 * count else { return nil }
    var isSound = true
    func digit(_ byte: UInt8) -> UInt8 {
      switch byte {
      case 0x30...0x39: return byte - 0x30
      case 0x61...0x66: return byte - 0x61 + 10
      default:
        isSound = false
        return 0
      }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in 0..<count { bytes.append(digit(text[2 * index]) << 4 | digit(text[2 * index + 1])) }
    return isSound ? bytes : nil
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these are the bytes of a text.
  fileprivate func holds(_ text: StaticString) -> Bool {
    compared(with: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)) == 0
  }
}
