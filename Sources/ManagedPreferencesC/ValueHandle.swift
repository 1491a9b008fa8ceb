import Glibc
import PropertyList
import Synchronization

/// What an `mp_value` points to: a value, and the memory that C borrows from it.
final class ValueHandle: @unchecked Sendable {
  let value: PropertyListValue
  /// The UTF-8 of a string or the bytes of data, with a NUL behind them.
  let bytes: UnsafeMutableRawPointer?
  /// Without that NUL.
  let byteCount: Int
  /// How deep containers nest, where that was found out already.
  private let knownHeight: Int?
  /// Made when C first asks for one of them; handed out as long as this object lives.
  private let members: Mutex<Members?>

  /// The elements of an array, or the members of a dictionary in the order of their keys' bytes.
  struct Members: @unchecked Sendable {
    var keys: [(pointer: UnsafeMutablePointer<CChar>, length: Int)] = []
    var values: [ValueHandle] = []
    var places: [String: Int] = [:]
  }

  init(_ value: PropertyListValue, height: Int? = nil) {
    self.value = value
    knownHeight = height
    members = Mutex(nil)
    switch value {
    case .string(let text):
      let (pointer, length) = Output.text(text)
      (bytes, byteCount) = (UnsafeMutableRawPointer(pointer), length)
    case .data(let data): (bytes, byteCount) = (Output.copy(data), data.count)
    case .integer, .real, .boolean, .date, .array, .dictionary: (bytes, byteCount) = (nil, 0)
    }
  }

  deinit {
    free(bytes)
    members.withLock { members in
      for key in members?.keys ?? [] { free(key.pointer) }
    }
  }

  // MARK: C's pointers

  static func of(_ handle: OpaquePointer) -> ValueHandle {
    Unmanaged<ValueHandle>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  /// A pointer that owns.
  static func owned(_ value: PropertyListValue?, height: Int? = nil) -> OpaquePointer? {
    value.map { OpaquePointer(Unmanaged.passRetained(ValueHandle($0, height: height)).toOpaque()) }
  }

  /// A pointer that is good as long as something else owns the object.
  var borrowed: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

  // MARK: Containers

  /// The levels of containers that files hold around one value: the domain itself is the first.
  static let maximumHeight = DecodingLimits.default.maximumDepth - 1

  /// How deep containers nest: 0 for a scalar, 1 for a container of scalars.
  var height: Int { knownHeight ?? Self.height(of: value) }

  private static func height(of value: PropertyListValue) -> Int {
    switch value {
    case .array(let elements): 1 + (elements.lazy.map(height).max() ?? 0)
    case .dictionary(let members): 1 + (members.values.lazy.map(height).max() ?? 0)
    case .string, .integer, .real, .boolean, .date, .data: 0
    }
  }

  var count: Int {
    switch value {
    case .array(let elements): elements.count
    case .dictionary(let members): members.count
    case .string, .integer, .real, .boolean, .date, .data: 0
    }
  }

  /// The elements or members, as C borrows them.
  func withMembers<R>(_ body: (Members) -> R) -> R {
    members.withLock { members in
      let made = members ?? makeMembers()
      members = made
      return body(made)
    }
  }

  private func makeMembers() -> Members {
    var result = Members()
    switch value {
    case .array(let elements): result.values = elements.map { ValueHandle($0) }
    case .dictionary(let members):
      let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      for (index, member) in sorted.enumerated() {
        result.keys.append(Output.text(member.key))
        result.values.append(ValueHandle(member.value))
        result.places[member.key] = index
      }
    case .string, .integer, .real, .boolean, .date, .data: break
    }
    return result
  }
}
