import PropertyList
import Synchronization

/// The language domains of a search list: in their place in the order, but made only when one of their keys is asked for.
extension ListState {
  func appendLanguages(to sources: inout [LayerSource]) {
    for tag in languages.tags {
      let contents: LayerSource.Contents
      switch replacedLanguages[tag] {
      case nil: contents = .language(languages, tag: tag)
      case .some(nil): continue
      case .some(.some(let values)): contents = .values(values)
      }
      sources.append(LayerSource(layer: .language, domain: tag, path: nil, contents: contents))
    }
  }

  /// What a language's domain holds now; nil where there is none. Under the engine's lock.
  func languageDomain(_ tag: String) -> [String: PropertyListValue]? {
    if let replaced = replacedLanguages[tag] { return replaced }
    return languages.values(ofLanguage: tag)
  }

  /// A table with the winner of every key, without the language domains while nobody has asked for their keys and no layer
  /// below them has one. Called with `filling` held.
  func filledTable(_ sources: [LayerSource]) -> SlotTable {
    let table = SlotTable(capacity: 16)
    let waits = !wantsLanguages
    for source in sources where !(waits && source.layer == .language) { source.fill(table) }
    guard waits, LanguageKey.allCases.contains(where: { hidesALanguage($0, in: table) }) else { return table }
    wantsLanguages = true
    return filledTable(sources)
  }

  /// Whether a key comes from a layer that a language domain goes before.
  private func hidesALanguage(_ key: LanguageKey, in table: SlotTable) -> Bool {
    var name = key.rawValue
    return name.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return table.find(KeyHash.hash(bytes), bytes).map { $0.description.layer > .language } ?? false
    }
  }

  /// Makes the language domains and puts them into the tables. Without the engine's lock.
  /// - Returns: false where they are there already.
  func includeLanguages(_ engine: Engine) -> Bool {
    if hasLanguages.load(ordering: .acquiring) { return false }
    filling.withLock { wantsLanguages = true }
    let notice = fill(engine, .receiver, domain: nil)
    hasLanguages.store(true, ordering: .releasing)
    notice?.deliver()
    return true
  }
}
