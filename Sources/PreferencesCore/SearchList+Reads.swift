import CReaderEpoch
public import PropertyList
import Synchronization

/// The getters. A key that no layer has answers false, 0 or nil; values of other types convert as SEMANTICS §4 says.
extension SearchList {
  /// Finds a key and gives what the tables say to `body`, inside a read section.
  @inline(__always)
  private func read<R>(_ key: String, otherwise: R, _ body: (TableEntry) -> R) -> R {
    let published = published
    return Self.withUTF8(key) { bytes in
      guard let start = bytes.baseAddress else { return otherwise }
      let section = reader_epoch_enter()
      let header = UnsafePointer<SnapshotHeader>(bitPattern: published.pointee.load(ordering: .acquiring))
        .unsafelyUnwrapped
      let result: R
      if let entry = header.pointee.find(start, bytes.count) { result = body(entry) } else { result = otherwise }
      reader_epoch_exit(section)
      return result
    }
  }

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

  /// Whether what `value` returns for the key comes from the forced domain, so that nobody but an administrator can
  /// change it. True for every key while the forced domain of an installed host can't be read.
  public func isForced(_ key: String) -> Bool {
    let published = published
    return Self.withUTF8(key) { bytes in
      let section = reader_epoch_enter()
      let header = UnsafePointer<SnapshotHeader>(bitPattern: published.pointee.load(ordering: .acquiring))
        .unsafelyUnwrapped
      var result = header.pointee.everythingIsForced
      if let start = bytes.baseAddress, let entry = header.pointee.find(start, bytes.count) {
        result = result || entry.layer == TableEntry.forcedLayer
      }
      reader_epoch_exit(section)
      return result
    }
  }

  public func bool(_ key: String) -> Bool {
    read(key, otherwise: false) { entry in
      switch entry.kind {
      case .boolean, .signed, .unsigned: entry.payload != 0
      case .string: StringConversions.boolean(utf8: entry.utf8)
      // NaN is not 0.
      case .real: Double(bitPattern: entry.payload) != 0
      case .absent, .dead, .date, .object: false
      }
    }
  }

  public func integer(_ key: String) -> Int {
    read(key, otherwise: 0) { entry in
      switch entry.kind {
      case .boolean, .signed: Int(truncatingIfNeeded: entry.payload)
      case .unsigned: .max
      case .string: StringConversions.integer(utf8: entry.utf8)
      case .real: PropertyListValue.real(Double(bitPattern: entry.payload)).integerValue
      case .absent, .dead, .date, .object: 0
      }
    }
  }

  public func double(_ key: String) -> Double {
    read(key, otherwise: 0) { entry in
      switch entry.kind {
      case .boolean, .unsigned: Double(entry.payload)
      case .signed: Double(Int64(bitPattern: entry.payload))
      case .string: StringConversions.double(utf8: entry.utf8)
      case .real: Double(bitPattern: entry.payload)
      case .absent, .dead, .date, .object: 0
      }
    }
  }

  public func float(_ key: String) -> Float { Float(double(key)) }

  public func string(_ key: String) -> String? {
    read(key, otherwise: nil) { entry in
      switch entry.kind {
      case .string: String(decoding: entry.utf8, as: UTF8.self)
      case .absent, .dead, .date, .object: nil
      case .boolean, .signed, .unsigned, .real: entry.value?.stringValue
      }
    }
  }

  /// The value in its own type.
  public func value(_ key: String) -> PropertyListValue? { read(key, otherwise: nil) { $0.value } }

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
    engine.lock.withLock {
      let snapshot = state.published.current
      var result = [String: PropertyListValue](minimumCapacity: snapshot.base.live)
      snapshot.visit { _, key, entry in result[String(decoding: key, as: UTF8.self)] = entry.value }
      return result
    }
  }
}
