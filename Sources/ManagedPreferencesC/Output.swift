import Glibc

/// Text that lives as long as the program.
enum ConstantText {
  /// The compiler ends a static string with a NUL.
  static func pointer(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// A copy that is never freed: for tables that are made once.
  static func kept(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(Output.text(text).pointer) }
}

/// Memory that goes out to C, for `mp_free`.
enum Output {
  static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    guard let memory = malloc(max(count, 1)) else { fatalError("managed preferences: no memory") }
    return memory
  }

  /// A copy with a NUL behind it.
  static func copy(_ bytes: [UInt8]) -> UnsafeMutableRawPointer { bytes.withUnsafeBytes { copy($0) } }

  private static func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
    let memory = allocate(bytes.count + 1)
    if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
    memory.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    return memory
  }

  static func text(_ text: String) -> (pointer: UnsafeMutablePointer<CChar>, length: Int) {
    var text = text
    return text.withUTF8 { (self.text($0), $0.count) }
  }

  static func text(_ utf8: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<CChar> {
    copy(UnsafeRawBufferPointer(utf8)).assumingMemoryBound(to: CChar.self)
  }

  /// One block: an array of C's elements, and behind it the texts that they point to.
  /// - Parameters:
  ///   - texts: those of one item, nil for NULL.
  ///   - element: makes an element of an item and its texts, in the order of `texts`.
  static func block<Item, Element>(
    _ items: [Item], texts: (Item) -> [String?], element: (Item, [UnsafePointer<CChar>?]) -> Element
  ) -> UnsafeMutablePointer<Element>? {
    if items.isEmpty { return nil }
    let texts = items.map(texts)
    let head = items.count * MemoryLayout<Element>.stride
    let size = texts.joined().reduce(head) { sum, text in sum + (text.map { $0.utf8.count + 1 } ?? 0) }
    let memory = allocate(size)
    let elements = memory.bindMemory(to: Element.self, capacity: items.count)
    var place = memory + head
    for (index, item) in items.enumerated() {
      let pointers = texts[index].map { text -> UnsafePointer<CChar>? in
        guard let text else { return nil }
        let start = place
        for byte in text.utf8 {
          place.storeBytes(of: byte, as: UInt8.self)
          place += 1
        }
        place.storeBytes(of: 0, as: UInt8.self)
        place += 1
        return UnsafePointer(start.assumingMemoryBound(to: CChar.self))
      }
      (elements + index).initialize(to: element(item, pointers))
    }
    return elements
  }

  /// One block of texts.
  static func texts(_ texts: [String]) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    block(texts, texts: { [$0] }, element: { UnsafeMutablePointer(mutating: $1[0]) })
  }
}
