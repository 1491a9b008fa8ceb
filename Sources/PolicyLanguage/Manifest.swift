public import PropertyList

/// What the keys of a domain are.
public struct Manifest: Sendable {
  /// Index of its file in ``PolicyTree/sources``.
  public let source: Int
  public let position: SourcePosition
  public let domain: Located<String>
  public let keys: [ManifestKey]
  private let table: KeyTable

  init(source: Int, position: SourcePosition, domain: Located<String>, keys: [ManifestKey]) {
    self.source = source
    self.position = position
    self.domain = domain
    self.keys = keys
    table = KeyTable(keys.map(\.name.value))
  }

  /// The description of a key, by its bytes.
  ///
  /// - Complexity: O(length of the key).
  public func key(named bytes: UnsafeRawBufferPointer) -> ManifestKey? { table.index(of: bytes).map { keys[$0] } }

  public func key(named name: String) -> ManifestKey? {
    var name = name
    return name.withUTF8 { key(named: UnsafeRawBufferPointer($0)) }
  }

  /// A key's place in `keys`.
  func index(ofKey bytes: UnsafeRawBufferPointer) -> Int? { table.index(of: bytes) }
}

/// What one key is.
public struct ManifestKey: Sendable {
  /// How entries of several ranks come together (rule 2).
  public enum Merge: String, Sendable, CaseIterable {
    case replace, union
  }

  /// Numbers that a key may hold, ends included.
  public struct Range: Sendable {
    public let low: PropertyListValue
    public let high: PropertyListValue
  }

  public let name: Located<String>
  /// Nil where the manifest does not say.
  public let type: PropertyListType?
  /// The type of the elements, for arrays.
  public let items: PropertyListType?
  public let range: Range?
  public let enumeration: [PropertyListValue]?
  public let defaultValue: PropertyListValue?
  public let title: String?
  public let unit: String?
  public let merge: Merge
  /// Never printed, logged or reported; a policy can't give it a value.
  public let isSecret: Bool
  /// What to use instead.
  public let deprecated: String?

  /// The type as messages name it: "integer", "array of strings".
  var typeName: String {
    guard let type else { return "any value" }
    guard type == .array, let items else { return type.description }
    return "array of \(items == .data ? "data" : items == .dictionary ? "dictionaries" : "\(items)s")"
  }
}

/// Places of names by their bytes: open addressing, no `String` for a look-up.
struct KeyTable: Sendable {
  private let names: [[UInt8]]
  private var slots: [UInt32]

  /// The first of equal names counts.
  init(_ names: [String]) {
    self.names = names.map { Array($0.utf8) }
    var capacity = 8
    while capacity < names.count * 2 { capacity *= 2 }
    slots = [UInt32](repeating: 0, count: capacity)
    for (place, name) in self.names.enumerated() {
      name.withUnsafeBytes { bytes in
        let slot = slot(of: bytes)
        if slots[slot] == 0 { slots[slot] = UInt32(place + 1) }
      }
    }
  }

  func index(of bytes: UnsafeRawBufferPointer) -> Int? {
    let place = slots[slot(of: bytes)]
    return place == 0 ? nil : Int(place - 1)
  }

  /// The slot that holds the name, or the free one where it would go.
  private func slot(of bytes: UnsafeRawBufferPointer) -> Int {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: ByteHash.exact(bytes)) & mask
    while slots[slot] != 0 {
      let name = names[Int(slots[slot] - 1)]
      if name.count == bytes.count, name.withUnsafeBytes({ $0.elementsEqual(bytes) }) { break }
      slot = (slot + 1) & mask
    }
    return slot
  }
}
