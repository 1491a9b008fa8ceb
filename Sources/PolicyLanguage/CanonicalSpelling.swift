/// Texts that are one text to Unicode though their bytes differ: `é` is one code point or two (UAX #15).
///
/// Swift's strings, and so every dictionary of them, compare as Unicode does; the compiled file compares bytes. A name
/// that is spelt in two ways would be one name here and two there. So a tree has one spelling for each name.
enum CanonicalSpelling {
  /// Unicode's limit for text that is safe to normalise piece by piece ("Stream-Safe Text Format"). Swift sorts runs of
  /// combining marks in a time that grows with the square of their length, so no longer run may reach a dictionary.
  static let maximumMarks = 30

  static func hasTooManyMarks(_ text: String) -> Bool {
    // No combining mark is below U+0300, whose first byte in UTF-8 is 0xCC.
    guard text.utf8.contains(where: { $0 >= 0xCC }) else { return false }
    var run = 0
    for scalar in text.unicodeScalars {
      run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
      if run > maximumMarks { return true }
    }
    return false
  }

  /// What a message says of such a text.
  static func objection(_ name: String) -> String { "\(name) has more than \(maximumMarks) combining marks in a row" }

  static func holdsHighBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index + 8 <= bytes.count {
      if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return true }
      index += 8
    }
    while index < bytes.count {
      if bytes[index] >= 0x80 { return true }
      index += 1
    }
    return false
  }

  static func holdsHighBytes(_ text: String) -> Bool { text.utf8.contains { $0 >= 0x80 } }

  /// The first spelling of each text that is not ASCII, and where it stands.
  ///
  /// Texts of ASCII are not put in: only three characters beyond it are equal to one of it, and only where one of those
  /// was seen (``mayEqualASCII``) is it worth asking for them.
  struct Table<Place> {
    struct Entry {
      var text: String
      var place: Place
    }

    private var entries: [String: Entry] = [:]
    /// The Kelvin sign, the Greek question mark or the Greek varia was seen.
    private(set) var mayEqualASCII = false

    /// Puts a text in; the entry of another spelling of it comes back.
    mutating func insert(_ text: String, _ place: @autoclosure () -> Place) -> Entry? {
      if let other = entries[text] { return Self.differing(other, text) }
      entries[text] = Entry(text: text, place: place())
      if text.unicodeScalars.contains(where: { $0 == "\u{212A}" || $0 == "\u{37E}" || $0 == "\u{1FEF}" }) {
        mayEqualASCII = true
      }
      return nil
    }

    /// The entry of another spelling of a text.
    func differing(from text: String) -> Entry? { entries[text].flatMap { Self.differing($0, text) } }

    private static func differing(_ entry: Entry, _ text: String) -> Entry? {
      entry.text.utf8.elementsEqual(text.utf8) ? nil : entry
    }
  }
}

extension String {
  /// The text in quotation marks with every character beyond ASCII as its code point, shortened: what tells two
  /// spellings apart that look alike.
  var spelledOut: String {
    var result = "'"
    for (count, scalar) in unicodeScalars.enumerated() {
      if count == 40 { return result + "…'" }
      if scalar.value >= 0x20 && scalar.value < 0x7F {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return result + "'"
  }
}
