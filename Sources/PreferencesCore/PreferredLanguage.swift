import LinuxFiles

/// A language that the user prefers, from the environment.
struct PreferredLanguage: Sendable, Hashable {
  /// As language tags are written, `de-AT`: the name of the language's domain.
  let tag: String
  /// As the C library names it: `de_AT.UTF-8`.
  let locale: String

  /// The last in every list.
  static let english = PreferredLanguage(tag: "en", locale: "C")

  /// The languages in order of preference, `en` among them, without repeats.
  ///
  /// The order is gettext's: the first that is set of `LC_ALL`, `LC_MESSAGES` and `LANG` names the locale; unless that is `C`
  /// or `POSIX`, which mean English, the list in `LANGUAGE` goes before it and in its place. What can't be a locale's name
  /// is passed over.
  /// - Parameter variable: the environment.
  static func list(_ variable: (String) -> String?) -> [PreferredLanguage] {
    func text(_ name: String) -> String? {
      guard let text = variable(name), !text.isEmpty else { return nil }
      return text
    }
    let locale = text("LC_ALL") ?? text("LC_MESSAGES") ?? text("LANG") ?? "C"
    let isPlain = locale == "C" || locale == "POSIX"
    return list(isPlain ? [locale] : text("LANGUAGE")?.split(separator: ":").map(String.init) ?? [locale])
  }

  static func list(_ locales: [String]) -> [PreferredLanguage] {
    var result: [PreferredLanguage] = []
    for locale in locales {
      guard let language = PreferredLanguage(locale: locale) else { continue }
      if !result.contains(where: { $0.tag == language.tag }) { result.append(language) }
    }
    if !result.contains(where: { $0.tag == english.tag }) { result.append(english) }
    return result
  }

  /// `language[_REGION][.codeset][@modifier]`.
  init?(locale: String) {
    let allowed = { (byte: UInt8) in
      byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
    }
    let parts = locale.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, locale.utf8.count <= 64 else { return nil }
    let base = first.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)[0]
    if base == "C" || base == "POSIX" {
      self = .english
      return
    }
    let words = base.split(separator: base.contains("_") ? "_" : "-", omittingEmptySubsequences: false)
    guard (1...3).contains(words.count), words.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(allowed) }),
      (2...8).contains(words[0].count), words[0].allSatisfy(\.isLetter)
    else { return nil }
    var subtags = [words[0].lowercased()]
    if parts.count == 2, let script = Self.scripts[String(parts[1])] { subtags.append(script) }
    subtags += words.dropFirst().map { $0.count == 4 ? $0.capitalized : $0.uppercased() }
    tag = subtags.joined(separator: "-")
    self.locale = locale
  }

  private init(tag: String, locale: String) {
    self.tag = tag
    self.locale = locale
  }

  /// The modifiers of locales' names that name a script.
  private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva", "iqtelif": "Latn"]
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
