import CManagedPreferences
import PreferencesCore
import PropertyList

/// What C passes in, checked: nothing of it may stop the program.
enum Input {
  static func preferences(_ handle: OpaquePointer?) throws(Failure) -> SearchList {
    guard let handle else { throw .null("preferences") }
    return Unmanaged<SearchList>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  /// The list of a handle without counting another owner, which would cost a read more than the read itself. C must not
  /// close a handle that is in use.
  @inline(__always)
  static func withList<R>(_ handle: OpaquePointer, _ body: (SearchList) -> R) -> R {
    Unmanaged<SearchList>.fromOpaque(UnsafeRawPointer(handle))._withUnsafeGuaranteedRef(body)
  }

  static func value(_ handle: OpaquePointer?, _ parameter: StaticString = "value") throws(Failure) -> ValueHandle {
    guard let handle else { throw .null(parameter) }
    return ValueHandle.of(handle)
  }

  static func text(_ pointer: UnsafePointer<CChar>?, _ parameter: StaticString) throws(Failure) -> String {
    guard let pointer else { throw .null(parameter) }
    guard let text = String(validatingCString: pointer) else {
      throw Failure(MP_ERROR_ENCODING, "'\(parameter)' is not UTF-8")
    }
    return text
  }

  /// A key of a preference: not empty, and one that a file can hold.
  static func key(_ pointer: UnsafePointer<CChar>?) throws(Failure) -> String {
    let key = try text(pointer, "key")
    try check(key: key)
    return key
  }

  /// The bytes of a key that is ASCII, as nearly all are: good without another look, and without a `String`.
  /// - Returns: nil for any other key, good or bad.
  @inline(__always)
  static func plainKey(_ pointer: UnsafePointer<CChar>) -> UnsafeRawBufferPointer? {
    let bytes = UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self)
    var length = 0
    while 1..<0x80 ~= bytes[length] { length += 1 }
    // What ended the loop is the NUL, or the first byte of what is not ASCII.
    return length > 0 && bytes[length] == 0 ? UnsafeRawBufferPointer(start: bytes, count: length) : nil
  }

  static func check(key: String) throws(Failure) {
    if key.isEmpty { throw Failure(MP_ERROR_KEY, "the key is empty") }
    try check(memberKey: key)
  }

  /// A key inside a dictionary may be empty.
  static func check(memberKey key: String) throws(Failure) {
    if let objection = KeyCheck.objection(key) { throw Failure(MP_ERROR_KEY, "\(objection)") }
  }

  /// A name of a domain or suite.
  static func domain(_ pointer: UnsafePointer<CChar>?, _ parameter: StaticString) throws(Failure) -> String {
    let name = try text(pointer, parameter)
    if let fault = DomainName.fault(in: name) { throw Failure(MP_ERROR_NAME, "\(fault)") }
    return name
  }

  /// The values of a dictionary that is to become a whole domain.
  static func members(_ handle: OpaquePointer?, _ parameter: StaticString) throws(Failure) -> [String:
    PropertyListValue]
  {
    guard case .dictionary(let members) = try value(handle, parameter).value else {
      throw Failure(MP_ERROR_TYPE, "'\(parameter)' is not a dictionary")
    }
    if members[""] != nil { throw Failure(MP_ERROR_KEY, "'\(parameter)' has an empty key") }
    return members
  }

  static func bytes(_ pointer: UnsafeRawPointer?, _ length: Int) throws(Failure) -> [UInt8] {
    try check(count: length, pointer == nil, "bytes")
    return length == 0 ? [] : Array(UnsafeRawBufferPointer(start: pointer, count: length))
  }

  static func texts(
    _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ parameter: StaticString
  ) throws(Failure) -> [String] {
    try check(count: count, pointer == nil, parameter)
    var texts: [String] = []
    for text in UnsafeBufferPointer(start: pointer, count: count) {
      guard let text else { throw Failure(MP_ERROR_NULL, "'\(parameter)[\(texts.count)]' is NULL") }
      guard let valid = String(validatingCString: text) else {
        throw Failure(MP_ERROR_ENCODING, "'\(parameter)[\(texts.count)]' is not UTF-8")
      }
      texts.append(valid)
    }
    return texts
  }

  /// A `size_t` above `PTRDIFF_MAX` arrives as a negative number.
  static func check(count: Int, _ isNull: Bool, _ parameter: StaticString) throws(Failure) {
    if count < 0 { throw Failure(MP_ERROR_RANGE, "there can't be that many '\(parameter)'") }
    if count > 0 && isNull { throw .null(parameter) }
  }
}
