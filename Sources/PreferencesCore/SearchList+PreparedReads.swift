import CReaderEpoch
public import PropertyList
import Synchronization

/// The getters for a key that was prepared.
///
/// They convert as those for a `String` do (SEMANTICS §4), and differ in one thing: what those answer with false, 0 or nil
/// because no layer has the key, or because a value of that type has no conversion, is nil here. So a caller can tell a
/// stored false from none.
extension SearchList {
  @inline(__always)
  private func read<R>(_ key: PreparedKey, _ body: (TableEntry) -> R) -> R {
    let section = reader_epoch_enter()
    let header = UnsafePointer<SnapshotHeader>(bitPattern: published.pointee.load(ordering: .acquiring))
      .unsafelyUnwrapped
    let forced = header.pointee.forced
    var found = TableEntry(SlotDescription(forced), 0)
    if let entry = header.pointee.find(key) {
      found = TableEntry(SlotDescription(entry.description.bits | forced), entry.payload)
    }
    let result = body(found)
    reader_epoch_exit(section)
    return result
  }

  /// What fits two registers needs no table any more.
  @inline(__always)
  private func scalar(_ key: PreparedKey) -> TableEntry { read(key) { $0 } }

  /// Whether the language domains, which may have the key, are there from now on.
  @inline(never)
  private func isNowThere(_ key: PreparedKey) -> Bool {
    LanguageKey.mayBe(UnsafeRawBufferPointer(start: key.start, count: key.count)) && state.includeLanguages(engine)
  }

  public func isForced(_ key: PreparedKey) -> Bool { scalar(key).isForced }

  public func bool(_ key: PreparedKey) -> Bool? {
    let entry = scalar(key)
    switch entry.kind {
    case .boolean, .signed, .unsigned: return entry.payload != 0
    case .real: return Double(bitPattern: entry.payload) != 0
    case .string: return read(key) { $0.kind == .string ? StringConversions.boolean(utf8: $0.utf8) : nil }
    case .absent: return isNowThere(key) ? bool(key) : nil
    case .dead, .date, .object: return nil
    }
  }

  public func integer(_ key: PreparedKey) -> Int? {
    let entry = scalar(key)
    switch entry.kind {
    case .boolean, .signed: return Int(truncatingIfNeeded: entry.payload)
    case .unsigned: return .max
    case .real: return PropertyListValue.real(Double(bitPattern: entry.payload)).integerValue
    case .string: return read(key) { $0.kind == .string ? StringConversions.integer(utf8: $0.utf8) : nil }
    case .absent: return isNowThere(key) ? integer(key) : nil
    case .dead, .date, .object: return nil
    }
  }

  public func double(_ key: PreparedKey) -> Double? {
    let entry = scalar(key)
    switch entry.kind {
    case .boolean, .unsigned: return Double(entry.payload)
    case .signed: return Double(Int64(bitPattern: entry.payload))
    case .real: return Double(bitPattern: entry.payload)
    case .string: return read(key) { $0.kind == .string ? StringConversions.double(utf8: $0.utf8) : nil }
    case .absent: return isNowThere(key) ? double(key) : nil
    case .dead, .date, .object: return nil
    }
  }

  public func string(_ key: PreparedKey) -> String? {
    let text: String? = read(key) { entry in
      switch entry.kind {
      case .string: String(decoding: entry.utf8, as: UTF8.self)
      case .absent, .dead, .date, .object: nil
      case .boolean, .signed, .unsigned, .real: entry.value?.stringValue
      }
    }
    return text == nil && isNowThere(key) ? string(key) : text
  }

  /// The value in its own type.
  public func value(_ key: PreparedKey) -> PropertyListValue? {
    let value = read(key) { $0.value }
    return value == nil && isNowThere(key) ? self.value(key) : value
  }
}
