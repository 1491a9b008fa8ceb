public import PropertyList

/// A value as it stands in a file. Valid only while the closure that it was given to runs.
public struct StoredValue {
  let tag: UInt8
  /// A scalar's bits.
  let bits: UInt64
  /// A string's text; the coded bytes of data, an array or a dictionary; nil for a scalar.
  let bytes: UnsafeRawBufferPointer?

  public var type: PropertyListType {
    tag == Format.Tag.largeInteger ? .integer : PropertyListType(rawValue: tag) ?? .data
  }

  /// The text of a string, nil for another type.
  public var utf8: UnsafeRawBufferPointer? { tag == Format.Tag.string ? bytes : nil }

  /// - Complexity: O(1) for a scalar, else O(bytes).
  public func decoded() -> PropertyListValue {
    switch tag {
    case Format.Tag.boolean: return .boolean(bits != 0)
    case Format.Tag.integer: return .integer(PropertyListInteger(Int64(bitPattern: bits)))
    case Format.Tag.largeInteger: return .integer(PropertyListInteger(bits))
    case Format.Tag.real: return .real(Double(bitPattern: bits))
    case Format.Tag.date: return .date(PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: bits)))
    case Format.Tag.string: return .string(String(decoding: bytes ?? .init(start: nil, count: 0), as: UTF8.self))
    default:
      var decoder = ValueDecoder(bytes ?? .init(start: nil, count: 0))
      return decoder.next()
    }
  }
}

/// What the law says about one key, as cheaply as it can be said. Valid only while the closure that it was given to runs.
public enum ResolvedValue {
  case boolean(Bool)
  case integer(PropertyListInteger)
  case real(Double)
  case date(PropertyListDate)
  /// UTF-8.
  case string(UnsafeRawBufferPointer)
  /// Data, an array or a dictionary, not decoded yet.
  case stored(StoredValue)
  /// What a union gathered.
  case gathered(PropertyListValue)

  init(_ stored: StoredValue) {
    switch stored.tag {
    case Format.Tag.boolean: self = .boolean(stored.bits != 0)
    case Format.Tag.integer: self = .integer(PropertyListInteger(Int64(bitPattern: stored.bits)))
    case Format.Tag.largeInteger: self = .integer(PropertyListInteger(stored.bits))
    case Format.Tag.real: self = .real(Double(bitPattern: stored.bits))
    case Format.Tag.date:
      self = .date(PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: stored.bits)))
    case Format.Tag.string: self = .string(stored.bytes ?? .init(start: nil, count: 0))
    default: self = .stored(stored)
    }
  }

  /// The value itself.
  public var value: PropertyListValue {
    switch self {
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .date(let value): .date(value)
    case .string(let utf8): .string(String(decoding: utf8, as: UTF8.self))
    case .stored(let value): value.decoded()
    case .gathered(let value): value
    }
  }
}

/// One entry as it stands in a file, for narrowing. Valid only while the closure that it was given to runs.
public struct StoredEntry {
  /// For `ForcedDomain.domainName(_:)`.
  public let domain: Int
  /// UTF-8.
  public let key: UnsafeRawBufferPointer
  public let section: PolicySection
  public let action: EntryAction
  public let rank: Rank
  /// An index into `ForcedDomain.conditions`.
  public let condition: Int
  /// An index into `ForcedDomain.profiles`.
  public let profile: Int
  /// nil for a release.
  public let value: StoredValue?
  private let view: DomainView
  private let index: Int

  init(_ view: DomainView, _ domain: Int, _ key: Int, _ index: Int) {
    let entry = view.entry(index)
    self.view = view
    self.index = index
    self.domain = domain
    self.key = view.keyName(key)
    section = PolicySection(rawValue: entry.section) ?? .forced
    action = EntryAction(rawValue: entry.action) ?? .replace
    rank = entry.rank
    condition = Int(entry.condition)
    profile = Int(entry.profile)
    value = view.storedValue(entry)
  }

  /// Where the entry was written, nil in the world-readable file; decoded at each call.
  public var provenance: Provenance? { view.provenance(index) }
}
