import CReaderEpoch
public import PropertyList
import Synchronization

/// The getters. A key that no layer has answers false, 0 or nil; values of other types convert as SEMANTICS §4 says.
extension SearchList {
  /// The bytes of a key, in place.
  @inline(__always)
  private static func withUTF8<R>(_ key: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    if let result = key.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return withCopiedUTF8(key, body)
  }

  /// Kept apart, so that the common path stays short. No string of Swift's own comes here.
  @inline(never)
  private static func withCopiedUTF8<R>(_ key: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    var key = key
    return key.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// Finds a key inside a read section and gives what the tables say to `body`, `forced` alone for a missing key.
  @inline(__always)
  private static func read<R>(
    _ published: UnsafeMutablePointer<Atomic<UInt>>, _ key: UnsafeRawBufferPointer, _ body: (TableEntry) -> R
  ) -> R {
    let section = reader_epoch_enter()
    let header = UnsafePointer<SnapshotHeader>(bitPattern: published.pointee.load(ordering: .acquiring))
      .unsafelyUnwrapped
    let forced = header.pointee.forced
    var found = TableEntry(SlotDescription(forced), 0)
    if let start = key.baseAddress, let entry = header.pointee.find(start, key.count) {
      found = TableEntry(SlotDescription(entry.description.bits | forced), entry.payload)
    }
    let result = body(found)
    reader_epoch_exit(section)
    return result
  }

  /// One body for all getters of scalars: what comes back in two registers needs no table any more.
  @inline(never)
  private static func scalar(
    _ published: UnsafeMutablePointer<Atomic<UInt>>, _ key: UnsafeRawBufferPointer
  ) -> TableEntry {
    read(published, key) { $0 }
  }

  /// For strings that a getter converts, and whatever else lies in the tables' memory.
  @inline(never)
  private func converted<R>(_ key: String, _ body: (TableEntry) -> R) -> R {
    let published = published
    return Self.withUTF8(key) { Self.read(published, $0, body) }
  }

  @inline(__always)
  private func scalar(_ key: String) -> TableEntry {
    let published = published
    return Self.withUTF8(key) { Self.scalar(published, $0) }
  }

  /// For a key that the tables do not have: whether the language domains, which may have it, are there from now on.
  @inline(never)
  private func isNowThere(_ key: String) -> Bool {
    Self.withUTF8(key, LanguageKey.mayBe) && state.includeLanguages(engine)
  }

  /// Whether what `value` returns for the key comes from the forced domain, so that nobody but an administrator can
  /// change it. True for every key while the forced domain of an installed host can't be read.
  public func isForced(_ key: String) -> Bool { scalar(key).isForced }

  public func bool(_ key: String) -> Bool {
    let entry = scalar(key)
    switch entry.kind {
    case .boolean, .signed, .unsigned: return entry.payload != 0
    // NaN is not 0.
    case .real: return Double(bitPattern: entry.payload) != 0
    case .string: return converted(key) { $0.kind == .string && StringConversions.boolean(utf8: $0.utf8) }
    case .absent: return isNowThere(key) && bool(key)
    case .dead, .date, .object: return false
    }
  }

  public func integer(_ key: String) -> Int {
    let entry = scalar(key)
    switch entry.kind {
    case .boolean, .signed: return Int(truncatingIfNeeded: entry.payload)
    case .unsigned: return .max
    case .real: return PropertyListValue.real(Double(bitPattern: entry.payload)).integerValue
    case .string: return converted(key) { $0.kind == .string ? StringConversions.integer(utf8: $0.utf8) : 0 }
    case .absent: return isNowThere(key) ? integer(key) : 0
    case .dead, .date, .object: return 0
    }
  }

  public func double(_ key: String) -> Double {
    let entry = scalar(key)
    switch entry.kind {
    case .boolean, .unsigned: return Double(entry.payload)
    case .signed: return Double(Int64(bitPattern: entry.payload))
    case .real: return Double(bitPattern: entry.payload)
    case .string: return converted(key) { $0.kind == .string ? StringConversions.double(utf8: $0.utf8) : 0 }
    case .absent: return isNowThere(key) ? double(key) : 0
    case .dead, .date, .object: return 0
    }
  }

  public func float(_ key: String) -> Float { Float(double(key)) }

  public func string(_ key: String) -> String? {
    let published = published
    let text = Self.withUTF8(key) { Self.string(published, $0) }
    return text == nil && isNowThere(key) ? string(key) : text
  }

  @inline(never)
  private static func string(
    _ published: UnsafeMutablePointer<Atomic<UInt>>, _ key: UnsafeRawBufferPointer
  ) -> String? {
    read(published, key) { entry in
      switch entry.kind {
      case .string: String(decoding: entry.utf8, as: UTF8.self)
      case .absent, .dead, .date, .object: nil
      case .boolean, .signed, .unsigned, .real: entry.value?.stringValue
      }
    }
  }

  /// What is found for a key of the same bytes, for callers that have no `String` and would have to make one.
  /// - Returns: nil where the getter for a `String` has more to do: no layer has the key yet, or the value is neither
  ///   boolean nor integer nor real.
  public func number(utf8 key: UnsafeRawBufferPointer) -> PropertyListValue? {
    let entry = Self.scalar(published, key)
    switch entry.kind {
    case .boolean: return .boolean(entry.payload != 0)
    case .signed: return .integer(PropertyListInteger(Int64(bitPattern: entry.payload)))
    case .unsigned: return .integer(PropertyListInteger(entry.payload))
    case .real: return .real(Double(bitPattern: entry.payload))
    case .string, .absent, .dead, .date, .object: return nil
    }
  }

  /// Shows `body` the bytes of a string, in place, by the key's bytes. It may copy them, and must not call the list: what it
  /// looks at stays only as long as the read lasts.
  /// - Returns: false where the getter for a `String` has more to do: the value is no string, or not there yet.
  public func readText(utf8 key: UnsafeRawBufferPointer, _ body: (UnsafeBufferPointer<UInt8>) -> Void) -> Bool {
    Self.read(published, key) { entry in
      if entry.kind != .string { return false }
      body(entry.utf8)
      return true
    }
  }

  /// `isForced` by the key's bytes.
  public func isForced(utf8 key: UnsafeRawBufferPointer) -> Bool { Self.scalar(published, key).isForced }

  /// The value in its own type.
  public func value(_ key: String) -> PropertyListValue? {
    let published = published
    let value = Self.withUTF8(key) { Self.read(published, $0) { $0.value } }
    return value == nil && isNowThere(key) ? self.value(key) : value
  }

  public func array(_ key: String) -> [PropertyListValue]? { value(key)?.arrayValue }

  /// An array of which every element is a string; numbers are not converted.
  public func stringArray(_ key: String) -> [String]? { value(key)?.stringArrayValue }

  public func dictionary(_ key: String) -> [String: PropertyListValue]? { value(key)?.dictionaryValue }

  public func data(_ key: String) -> [UInt8]? { value(key)?.dataValue }

  /// A string as a path (`~` expanded) or, with a scheme, as that URL; data as an archived URL.
  public func url(_ key: String) -> URLReference? { value(key)?.urlValue(home: configuration.homeDirectory) }

  /// The first hit of every key of all layers, unconverted.
  /// - Complexity: O(*n*) in the number of keys.
  public func dictionaryRepresentation() -> [String: PropertyListValue] {
    _ = state.includeLanguages(engine)
    return engine.lock.withLock {
      let snapshot = state.published.current
      var result = [String: PropertyListValue](minimumCapacity: snapshot.base.live)
      snapshot.visit { _, key, entry in result[String(decoding: key, as: UTF8.self)] = entry.value }
      return result
    }
  }
}
