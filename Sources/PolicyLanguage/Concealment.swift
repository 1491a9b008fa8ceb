/// What diagnostics must not show: values of keys that a manifest calls secret.
///
/// The law. No message, hint or quoted line holds a value of a key of such a name, whatever domain it stands in, however
/// deep the mistake lies in the value, and whatever else is wrong with the document. An entry of a manifest counts as secret unless its
/// `secret` is plainly false. A key that is spelled almost as a secret one, or so that a slip may have made one text of key and value,
/// is taken for it, so a mistake in a word reveals nothing. So is a key whose name has a word like `password` in it and that no
/// manifest describes.
///
/// Where a file of the tree could not be read to its end, nobody knows what its manifests would have called secret: then no
/// value of any preference of the tree is shown.
///
/// A diagnostic about such a value keeps its place and its code and names the key; its words are those of the table of codes, unless they
/// are known to hold no value. A line that such a value stands on is quoted as its key alone.
struct Concealment {
  private let files: [String: File]

  /// The documents of one file that were read whole.
  struct Documents: Sendable {
    var text: SourceText
    var trees: [NodeTree]
    /// The file was read to its end.
    var isComplete: Bool
  }

  /// - Parameter paths: of the files that there are diagnostics about.
  /// - Complexity: O(nodes × log nodes) of the files named, O(entries) of the others' manifests.
  init(of documents: [Documents], paths: Set<String>) {
    var declared = DeclaredSecrets()
    for tree in documents.lazy.flatMap(\.trees) { declared.add(tree) }
    let secrets = declared
    let concealed = PreferenceValues.Concealed(
      isEverything: secrets.isDoubtful || documents.contains { !$0.isComplete }, holds: secrets.holds)
    var files: [String: File] = [:]
    for document in documents where paths.contains(document.text.path) {
      files[document.text.path] = File(document, names: secrets.folded, concealed)
    }
    self.files = files
  }

  /// The diagnostics without what they must not show.
  func apply(to diagnostics: [Diagnostic]) -> [Diagnostic] {
    diagnostics.map { files[$0.path]?.conceal($0) ?? $0 }
  }

  /// Codes whose words hold names and types, never a value.
  private static let valueless: Set<DiagnosticCode> = [
    .secretKey, .typeMismatch, .wrongType, .missingField, .deprecatedKey, .unknownKey, .conflict, .contradictedControl,
    .invalidManifest, .reversedRange, .keyNotString, .emptyKey, .mergeKey, .syntax, .tabIndentation, .controlCharacter,
  ]

  private struct Place: Comparable {
    var line: UInt32
    var column: UInt32

    init(_ position: SourcePosition) { (line, column) = (position.line, position.column) }

    static func < (a: Place, b: Place) -> Bool { (a.line, a.column) < (b.line, b.column) }
  }

  /// From a key to what comes behind its value.
  private struct Stretch {
    var name: String
    var start: Place
    /// Where the next node begins; nil for the end of the file.
    var end: Place?
    var lines: ClosedRange<UInt32>
  }

  private struct File {
    /// In order; none lies in another.
    private var stretches: [Stretch] = []
    /// The lines of them all, in order; none touches another.
    private var lineRanges: [ClosedRange<UInt32>] = []
    /// Such a value has an anchor or is an alias: it also stands elsewhere in the file.
    private var isShared = false
    private let lines: [ArraySlice<UInt8>]
    /// The first key of each line that has one.
    private var keys: [UInt32: SourcePosition] = [:]
    /// Of secret keys, in lower case.
    private let names: [[UInt8]]
    /// Where a manifest names them.
    private var declaringLines: Set<UInt32> = []

    /// - Parameter names: of secret keys, in lower case.
    init(_ documents: Documents, names: [[UInt8]], _ concealed: PreferenceValues.Concealed) {
      self.names = names
      lines = documents.text.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let walks = documents.trees.map { (tree: $0, found: PreferenceValues(of: $0, concealed)) }
      var places: [Place] = []
      for (tree, found) in walks {
        places += tree.nodes.lazy.map { Place($0.position) }
        found.noteFirstKeys(in: &keys)
      }
      places.sort()
      for (tree, found) in walks {
        declaringLines.formUnion(found.declarations.lazy.map { tree.position($0).line })
        for value in found.values {
          if let stretch = stretch(value, in: tree, places) { stretches.append(stretch) } else { isShared = true }
        }
      }
      stretches.sort { $0.start < $1.start }
      for stretch in stretches {
        if let last = lineRanges.last, stretch.lines.lowerBound <= last.upperBound {
          lineRanges[lineRanges.count - 1] = last.lowerBound...max(last.upperBound, stretch.lines.upperBound)
        } else {
          lineRanges.append(stretch.lines)
        }
      }
    }

    /// Nil where the value is shared.
    private func stretch(_ value: PreferenceValues.Value, in tree: NodeTree, _ places: [Place]) -> Stretch? {
      let start = Place(tree.position(value.key))
      var last = start
      var open = [value.value]
      while let node = open.popLast() {
        let place = Place(tree.position(node))
        if place > start, let mark = scalar(at: place), mark == "&" || mark == "*" { return nil }
        last = max(last, place)
        tree.forEachElement(of: node) { open.append($0) }
        tree.forEachMember(of: node) { open += [$0, $1] }
      }
      let index = Self.firstIndex(in: places) { $0 > last }
      guard index < places.count else {
        return Stretch(name: value.name, start: start, end: nil, lines: start.line...(.max))
      }
      let next = places[index]
      let isOnItsOwn =
        next.line > last.line && SourceText.onlyMarks(in: lines[Int(next.line) - 1], before: next.column)
      return Stretch(
        name: value.name, start: start, end: next, lines: start.line...(isOnItsOwn ? next.line - 1 : next.line))
    }

    private func scalar(at place: Place) -> Unicode.Scalar? {
      guard Int(place.line) <= lines.count else { return nil }
      let scalars = String(decoding: lines[Int(place.line) - 1], as: UTF8.self).unicodeScalars
      return scalars.dropFirst(Int(place.column) - 1).first
    }

    /// The first of sorted elements for which something holds that holds for all after it.
    private static func firstIndex<T>(in elements: [T], where holds: (T) -> Bool) -> Int {
      var low = 0
      var high = elements.count
      while low < high {
        let middle = (low + high) / 2
        if holds(elements[middle]) { high = middle } else { low = middle + 1 }
      }
      return low
    }

    func conceal(_ diagnostic: Diagnostic) -> Diagnostic {
      let place = Place(diagnostic.position)
      var result = diagnostic
      let range = Self.firstIndex(in: lineRanges) { $0.upperBound >= place.line }
      let holdsValue =
        range < lineRanges.count && lineRanges[range].contains(place.line) || holdsName(place.line)
      if isShared || holdsValue, result.quotation == .line { result.quotation = quotation(of: place.line) }
      let isValueless = Concealment.valueless.contains(diagnostic.code)
      let next = Self.firstIndex(in: stretches) { $0.start > place }
      if next > 0, stretches[next - 1].end.map({ place < $0 }) ?? true {
        let name = stretches[next - 1].name
        let isName = SourceText.isName(name.utf8)
        result.concealValue(of: isName ? name : nil, keepsMessage: isValueless && isName)
      } else if isShared {
        result.concealValue(of: nil, keepsMessage: isValueless)
      }
      return result
    }

    /// Whether the name of a secret stands in a line: a mistake may have made something else of it than a key.
    private func holdsName(_ line: UInt32) -> Bool {
      guard Int(line) <= lines.count, !names.isEmpty, !declaringLines.contains(line) else { return false }
      let text = lines[Int(line) - 1].map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
      return names.contains { text.holds($0) }
    }

    private func quotation(of line: UInt32) -> Quotation {
      guard let key = keys[line], Int(line) <= lines.count else { return .nothing }
      return SourceText.quotation(of: lines[Int(line) - 1], keyAt: key.column, length: key.length)
    }
  }
}

extension Diagnostic {
  /// Puts words without a value in the place of the message, the hint and the notes.
  mutating func concealValue(of name: String?, keepsMessage: Bool) {
    // What these propose has the value in it.
    if !keepsMessage || code == .typeMismatch || code == .wrongType { hint = code.row.hint }
    if keepsMessage { return }
    message = (name.map { "\($0.shown): " } ?? "") + code.row.meaning
    related = related.map { RelatedPosition(path: $0.path, position: $0.position, message: "it is about this, too") }
  }
}
