/// The references between the objects of a keyed archive, which only binary files hold as a type of their own.
///
/// In a `PropertyListValue`, as in XML, a UID is the dictionary `{"CF$UID": n}`; the binary encoder writes such a
/// dictionary as a UID again. So keyed archives stay readable on every way, and no ninth type is needed.
enum KeyedArchiveUID {
  static let key = "CF$UID"

  /// CoreFoundation reads no larger ones.
  static let maximum = UInt32.max

  static func dictionary(_ number: UInt32) -> PropertyListValue {
    .dictionary([key: .integer(PropertyListInteger(UInt64(number)))])
  }

  /// The number, when this is exactly such a dictionary.
  static func number(_ members: [String: PropertyListValue]) -> UInt32? {
    guard members.count == 1, case .integer(let number)? = members[key], let unsigned = number.uint64 else {
      return nil
    }
    return UInt32(exactly: unsigned)
  }
}
