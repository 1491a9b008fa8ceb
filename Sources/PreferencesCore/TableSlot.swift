import PropertyList
import Synchronization

/// One place in a table: 32 bytes, so that two share a cache line.
///
/// A slot is filled once. `hash` is stored last, with release, so a reader that sees it sees the rest. What a filled slot
/// can still do is die (`SlotKind.dead`), after its successor was put further on in the same run: a reader that finds it
/// dead goes on and meets the successor.
struct TableSlot: ~Copyable {
  /// 0: never filled, the end of every run through it.
  let hash: Atomic<UInt64>
  /// The key's length above bit 32, the layer's order at bit 8, the kind at bit 0.
  let description: Atomic<UInt64>
  var key: UnsafeRawPointer
  var payload: UInt64

  init() {
    hash = Atomic(0)
    description = Atomic(0)
    key = UnsafeRawPointer(bitPattern: 8)!
    payload = 0
  }
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
  var kind: SlotKind
  var layer: UInt8
  var payload: UInt64

  @inline(__always)
  init(description: UInt64, payload: UInt64) {
    // Raw values count from 0 in the order of the cases, as the tags do; only kinds of ours are ever written.
    kind = unsafeBitCast(UInt8(truncatingIfNeeded: description), to: SlotKind.self)
    layer = UInt8(truncatingIfNeeded: description >> 8)
    self.payload = payload
  }

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
    guard kind == other.kind, (layer == Self.forcedLayer) == (other.layer == Self.forcedLayer) else { return false }
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

  static let forcedLayer: UInt8 = 0
}
