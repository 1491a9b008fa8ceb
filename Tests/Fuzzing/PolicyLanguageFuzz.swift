import PolicyLanguage
import PropertyList

/// One execution of the fuzzer over the policy language; `Scripts/fuzz yaml` builds and runs it. The corpus of
/// Tests/PolicyLanguageTests/Cases makes good seeds: `FUZZ_SEEDS=Tests/PolicyLanguageTests/Cases`.
///
/// Whatever the bytes are, they are read, decoded, validated and rendered; what is accepted can be turned into values,
/// and reading it again, alone or behind a byte-order mark, says the same.
@c(LLVMFuzzerTestOneInput) public func fuzzPolicyLanguage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let tree = PolicyTreeLoader.load(sources: [("p.yaml", bytes)], now: 1_796_000_000)
  let report = DiagnosticRenderer(sources: tree.sources).render(tree.diagnostics)
  for diagnostic in tree.diagnostics {
    precondition(diagnostic.line > 0 && diagnostic.column > 0, "a place is missing")
    precondition(!diagnostic.message.isEmpty)
  }
  for profile in tree.profiles {
    for setting in (profile.forced + profile.recommended).flatMap(\.settings) {
      _ = profile.tree.string(setting.key)
      let value = profile.tree.value(setting.value)
      if !tree.hasErrors { precondition(depth(value) < YAMLStream.Limits.depth, "deeper than the limit") }
    }
  }
  guard let text = tree.sources.first?.bytes, !text.starts(with: [0xEF, 0xBB, 0xBF]) else { return 0 }
  if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return 0 }
  let marked = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : [0xEF, 0xBB, 0xBF] + bytes
  // Byte offsets count the mark; everything else is as before.
  let isText = !tree.diagnostics.contains { [.invalidUTF8, .nulByte].contains($0.code) }
  if isText {
    let again = PolicyTreeLoader.load(sources: [("p.yaml", marked)], now: 1_796_000_000)
    if !again.sources[0].bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      precondition(DiagnosticRenderer(sources: again.sources).render(again.diagnostics) == report, "a mark matters")
    }
  }
  return 0
}

private func depth(_ value: PropertyListValue) -> Int {
  switch value {
  case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
  case .dictionary(let members): 1 + (members.values.map(depth).max() ?? 0)
  default: 0
  }
}
