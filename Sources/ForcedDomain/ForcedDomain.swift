public import PropertyList
import Synchronization

/// A file of the forced domain, checked and ready to be asked.
///
/// It owns a private copy of the bytes: a file that changes, shrinks or was forged afterwards does no harm. Everything
/// is checked when it is made; nothing that is asked afterwards can fail. Values are read in place.
public final class ForcedDomain: Sendable {
  /// A larger file is refused unread: 256 MiB.
  public static let maximumByteCount = 256 << 20

  public let kind: FileKind
  /// The host's count of installations; 0 in a payload.
  public let generation: UInt64
  /// The bundle's serial number; 0 in a payload.
  public let serial: UInt64
  /// SHA-256 of the sources that the bundle was made from, 32 bytes; empty in a payload.
  public let sourceDigest: [UInt8]
  /// The host that the file is narrowed to; empty in a payload.
  public let hostName: String
  /// Unix seconds over which windows are expanded; empty in a payload.
  public let horizon: Range<Int64>
  /// The file's own checksum: two files with the same one are the same file.
  public let checksum: UInt64
  /// The oldest reader that may use the file.
  public let minimumReaderVersion: UInt16
  /// Its owner is root outside of this process's user namespace (see `OutsideFacts`).
  let isOwnedOutside: Bool

  private let bytes: [UInt8]
  private let layout: Layout
  private let tables = Mutex<DecodedTables?>(nil)

  /// Checks a whole file.
  ///
  /// - Parameter kinds: the kinds that may stand where the bytes came from.
  /// - Throws: ``ForcedDomainError`` for anything that is not a sound file of such a kind; never a part of it is used.
  /// - Complexity: O(bytes), some 0.3 ms for 10,000 keys; memory is the bytes and a sixty-fourth of them.
  public convenience init(bytes: [UInt8], expecting kinds: FileKinds) throws(ForcedDomainError) {
    try self.init(bytes: bytes, expecting: kinds, isOwnedOutside: false)
  }

  init(bytes: [UInt8], expecting kinds: FileKinds, isOwnedOutside: Bool) throws(ForcedDomainError) {
    let checked = bytes.withUnsafeBytes { raw in
      Result { () throws(ForcedDomainError) in try Validation.check(raw, expecting: kinds) }
    }
    let layout = try checked.get()
    self.bytes = bytes
    self.layout = layout
    self.isOwnedOutside = isOwnedOutside
    typealias Header = Format.Header
    let header = bytes.withUnsafeBytes { raw in
      let view = DomainView(bytes: raw, layout: layout)
      return (
        generation: view.word8(Header.generation), serial: view.word8(Header.serial),
        start: Int64(bitPattern: view.word8(Header.horizonStart)),
        end: Int64(bitPattern: view.word8(Header.horizonEnd)), checksum: view.word8(Header.checksum),
        hostName: view.string(Int(view.word4(Header.hostName))), version: view.word4(Header.version) >> 16
      )
    }
    kind = FileKind(rawValue: bytes[Header.kind]) ?? .forced
    generation = header.generation
    serial = header.serial
    horizon = header.start..<header.end
    checksum = header.checksum
    hostName = header.hostName
    minimumReaderVersion = UInt16(truncatingIfNeeded: header.version)
    sourceDigest = Array(bytes[Header.digest..<(Header.digest + Int(bytes[Header.digestCount]))])
  }

  /// The file's size in bytes.
  public var byteCount: Int { bytes.count }
  /// Keys of all domains together.
  public var keyCount: Int { layout.keys.count }
  public var entryCount: Int { layout.entries.count }

  @inline(__always)
  func withView<Result>(_ body: (DomainView) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { raw in try body(DomainView(bytes: raw, layout: layout)) }
  }

  /// Profiles, groups and conditions, decoded when they are first asked for.
  var decoded: DecodedTables {
    tables.withLock { tables in
      if let tables { return tables }
      let decoded = withView { DecodedTables($0) }
      tables = decoded
      return decoded
    }
  }

  // MARK: Contents

  /// The domains that have entries, in byte order.
  public var domains: [String] {
    withView { view in
      (0..<layout.domains.count).map { String(decoding: view.domainName($0), as: UTF8.self) }
    }
  }

  /// The keys of a domain that have entries, in byte order; empty for a domain that is not there.
  public func keys(inDomain domain: String) -> [String] {
    withView { view in
      guard let index = view.domainIndex(named: domain) else { return [] }
      return view.keyRange(ofDomain: index).map { String(decoding: view.keyName($0), as: UTF8.self) }
    }
  }

  public var profiles: [ProfileReference] { decoded.profiles }
  public var hostGroups: [HostGroup] { decoded.hostGroups }
  public var userGroups: [UserGroup] { decoded.userGroups }
  public var resolvedUsers: [ResolvedUser] { decoded.resolvedUsers }
  /// Condition 0 is `Condition.always`.
  public var conditions: [Condition] { decoded.conditions }

  /// For each window of a condition the intervals (Unix seconds) in which it is open; none of them in a payload.
  public func intervals(ofCondition index: Int) -> [[Range<Int64>]] {
    withView { view in
      view.windowRange(ofCondition: index).map { window in
        view.intervalRange(ofWindow: window).map { view.interval($0) }
      }
    }
  }

  /// Whether any entry forces a value, on whatever condition.
  ///
  /// - Complexity: O(entries).
  public var forcesAnything: Bool {
    var forces = false
    forEachEntry { if $0.section == .forced, $0.action != .release { forces = true } }
    return forces
  }

  /// What the compiler adds for later readers: a dictionary; nil when there is none.
  public var annex: PropertyListValue? {
    withView { view in
      let annex = view.section(layout.annex)
      if annex.isEmpty { return nil }
      var decoder = ValueDecoder(annex)
      return decoder.next()
    }
  }

  /// The entries of a key in rank order, whether their conditions hold or not.
  ///
  /// - Complexity: O(entries of the key).
  public func entries(domain: String, key: String, section: PolicySection) -> [ForcedEntry] {
    let tables = decoded
    return withView { view in
      view.entryRange(domain: domain, key: key, section).map { view.decodedEntry($0, tables) }
    }
  }

  /// Every entry in the order domain, key, section, rank, read in place: for narrowing, which adds most of them again to
  /// a writer.
  ///
  /// - Parameter body: what it is given is valid only while it runs.
  public func forEachEntry(_ body: (StoredEntry) throws -> Void) rethrows {
    try withView { view in
      for domain in 0..<layout.domains.count {
        for key in view.keyRange(ofDomain: domain) {
          for section in PolicySection.allCases {
            for index in view.entryRange(ofKey: key, section) { try body(StoredEntry(view, domain, key, index)) }
          }
        }
      }
    }
  }

  /// The name of the domain with this number (`StoredEntry.domain`).
  public func domainName(_ number: Int) -> String {
    withView { String(decoding: $0.domainName(number), as: UTF8.self) }
  }
}

extension DomainView {
  func domainIndex(named name: String) -> Int? {
    var text = name
    return text.withUTF8 { domainIndex(named: UnsafeRawBufferPointer($0)) }
      ?? otherSpelling(of: name, among: 0..<layout.domains.count, domainName)
  }

  /// Empty for a key that is not there.
  func entryRange(domain: String, key: String, _ section: PolicySection) -> Range<Int> {
    guard let domain = domainIndex(named: domain) else { return 0..<0 }
    var text = key
    let index =
      text.withUTF8 { keyIndex(domain: domain, name: UnsafeRawBufferPointer($0)) }
      ?? otherSpelling(of: key, among: keyRange(ofDomain: domain), keyName)
    return index.map { entryRange(ofKey: $0, section) } ?? 0..<0
  }

  /// A name that is not there by its bytes may be there in another spelling: `é` is one code point or two, and whoever asks
  /// in the other one must not get past what is forced. A policy has one spelling for each name, so there is one at most.
  /// ASCII has no other spelling.
  ///
  /// - Complexity: O(names), for a name that is not ASCII and not there.
  private func otherSpelling(
    of name: String, among indices: Range<Int>, _ spelling: (Int) -> UnsafeRawBufferPointer
  ) -> Int? {
    guard name.utf8.contains(where: { $0 >= 0x80 }) else { return nil }
    return indices.first { index in
      let bytes = spelling(index)
      return bytes.contains { $0 >= 0x80 } && String(decoding: bytes, as: UTF8.self) == name
    }
  }
}
