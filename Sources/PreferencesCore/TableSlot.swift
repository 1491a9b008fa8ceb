import PropertyList
import Synchronization

/// One place in a table: a cache line, so that a hit on a key of usual length costs one miss of the cache and no more.
///
/// A slot is filled once. Its tag (`SlotTable`) is stored last, with release, so a reader that sees it sees the rest. What
/// a filled slot can still do is die (`SlotKind.dead`), after its successor was put further on in the same run: a reader
/// that finds it dead goes on and meets the successor.
struct TableSlot: ~Copyable {
  /// 0: never filled. The tag beside it, not this, tells readers where a run ends.
  let hash: Atomic<UInt64>
  /// What `SlotDescription` packs.
  let description: Atomic<UInt64>
  var payload: UInt64
  /// The key's bytes where they fit, else their address.
  var key: (UInt64, UInt64, UInt64, UInt64, UInt64)

  static let size = 64
  static let keyOffset = 24
  static let inlineKeySize = 40

  init() {
    hash = Atomic(0)
    description = Atomic(0)
    payload = 0
    key = (0, 0, 0, 0, 0)
  }

  /// Where a key of the given length lies.
  @inline(__always)
  static func key(_ slot: UnsafeMutablePointer<TableSlot>, _ count: Int) -> UnsafeRawPointer {
    let place = UnsafeRawPointer(slot) + keyOffset
    return count <= inlineKeySize ? place : place.load(as: UnsafeRawPointer.self)
  }
}

/// A slot's key length, layer and kind, and whether the layer forces, in one word that is loaded and stored whole.
struct SlotDescription {
  let bits: UInt64

  /// On a word of its own it stands for a missing key of a list in which everything counts as forced.
  static let forcedBit: UInt64 = 1 << 16

  @inline(__always) init(_ bits: UInt64) { self.bits = bits }

  init(kind: SlotKind, layer: Layer, keyLength: Int) {
    bits =
      UInt64(keyLength) << 32 | (layer == .forced ? Self.forcedBit : 0) | UInt64(layer.position) << 8
      | UInt64(kind.rawValue)
  }

  static let dead = SlotDescription(UInt64(SlotKind.dead.rawValue))

  /// Raw values count from 0 in the order of the cases, as the tags do, and only kinds of ours are ever written.
  @inline(__always) var kind: SlotKind { unsafeBitCast(UInt8(truncatingIfNeeded: bits), to: SlotKind.self) }
  @inline(__always) var isDead: Bool { UInt8(truncatingIfNeeded: bits) == SlotKind.dead.rawValue }
  @inline(__always) var isForced: Bool { bits & Self.forcedBit != 0 }
  @inline(__always) var keyLength: Int { Int(truncatingIfNeeded: bits >> 32) }
  var layer: Layer { Layer.allCases[Int(UInt8(truncatingIfNeeded: bits >> 8))] }
}

/// How a slot's payload is to be read.
enum SlotKind: UInt8 {
  /// No layer has the key (what a removal leaves above a table that still has it).
  case absent = 0
  case dead
  case boolean
  /// Two's complement in 64 bits.
  case signed
  /// An integer above Int64's range.
  case unsigned
  case real
  case date
  /// The address of a `StringRecord`: a count, and its bytes of UTF-8.
  case string
  /// The address of a `ValueBox`: data, an array or a dictionary.
  case object
}

/// Data, an array or a dictionary of a table; the table keeps it alive.
final class ValueBox: Sendable {
  let value: PropertyListValue
  init(_ value: PropertyListValue) { self.value = value }
}

/// What a table says about a key: trivial to copy, valid inside the read section (or under the lock) that found it.
struct TableEntry {
  let description: SlotDescription
  let payload: UInt64

  @inline(__always)
  init(_ description: SlotDescription, _ payload: UInt64) {
    self.description = description
    self.payload = payload
  }

  @inline(__always) var kind: SlotKind { description.kind }
  @inline(__always) var isForced: Bool { description.isForced }

  @inline(__always) var utf8: UnsafeBufferPointer<UInt8> {
    let record = UnsafeRawPointer(bitPattern: UInt(payload)).unsafelyUnwrapped
    return UnsafeBufferPointer(
      start: (record + 8).assumingMemoryBound(to: UInt8.self), count: record.load(as: Int.self))
  }

  @inline(__always) var box: Unmanaged<ValueBox> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: UInt(payload)).unsafelyUnwrapped)
  }

  /// The whole value; nil for `absent`.
  var value: PropertyListValue? {
    switch kind {
    case .absent, .dead: nil
    case .boolean: .boolean(payload != 0)
    case .signed: .integer(PropertyListInteger(Int64(bitPattern: payload)))
    case .unsigned: .integer(PropertyListInteger(payload))
    case .real: .real(Double(bitPattern: payload))
    case .date: .date(PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: payload)))
    case .string: .string(String(decoding: utf8, as: UTF8.self))
    case .object: box._withUnsafeGuaranteedRef { $0.value }
    }
  }

  /// Whether both mean the same value in a layer of the same force.
  func isSame(as other: TableEntry) -> Bool {
    guard kind == other.kind, isForced == other.isForced else { return false }
    switch kind {
    case .absent, .dead: return true
    case .string: return utf8.elementsEqual(other.utf8)
    case .object:
      return payload == other.payload
        || box._withUnsafeGuaranteedRef { mine in
          other.box._withUnsafeGuaranteedRef { mine.value == $0.value }
        }
    default: return payload == other.payload
    }
  }
}
