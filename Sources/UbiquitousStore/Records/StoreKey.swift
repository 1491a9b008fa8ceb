/// A key of a store. Two keys are one if their bytes in UTF-8 are the same.
///
/// `é` can be one code point or two. Swift's strings call the two equal, databases do not; a store on which devices must
/// agree goes by the bytes, as Foundation does on macOS.
public struct StoreKey: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let text: String

  public init(_ text: String) { self.text = text }
  public init(stringLiteral text: String) { self.text = text }

  public var byteCount: Int { text.utf8.count }
  public var description: String { text }

  public static func == (a: StoreKey, b: StoreKey) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }

  public static func < (a: StoreKey, b: StoreKey) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}
