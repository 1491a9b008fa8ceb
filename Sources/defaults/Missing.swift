import CommandLineKit
import LinuxFiles
import PreferencesCore

/// What standard error says of a domain or key that is not there: macOS's sentence, and what was probably meant.
enum Missing {
  /// `The domain/default pair of (x, y) does not exist`.
  static func key(_ key: String, in domain: VisibleDomain, _ call: Invocation) -> CommandFailure {
    let reference = domain.reference
    let known = domain.answers().keys
    if known.isEmpty, let failure = fault(of: domain) { return failure }
    return CommandFailure(
      code(domain),
      "The domain/default pair of (\(reference.shown), \(TerminalText.escape(key))) does not exist"
        + UsageError.didYouMean(suggestions(key, among: known)),
      next: elsewhere(reference, key: key, call)
        + [known.isEmpty ? call.command("domains") : call.command(["read"] + reference.words)])
  }

  /// `Domain x does not exist`.
  static func domain(_ domain: VisibleDomain, _ call: Invocation) -> CommandFailure {
    if let failure = fault(of: domain) { return failure }
    let reference = domain.reference
    return CommandFailure(
      .no,
      "Domain \(reference.shown) does not exist" + directory(of: reference)
        + UsageError.didYouMean(names(near: reference)),
      next: elsewhere(reference, key: nil, call) + [call.command("domains")])
  }

  /// Commands that lead to what was probably meant: the file in this folder, for a name that ends as one; the domain, for
  /// a path as on macOS; all layers, for a key that applications find in another one.
  private static func elsewhere(_ reference: DomainReference, key: String?, _ call: Invocation) -> [String] {
    if reference.isPath { return call.byNameInsteadOfPathOfMac() }
    if reference.word.hasSuffix(".plist"), (try? FileMetadata.of(reference.word)) != nil {
      return [call.command([call.verb.name, "./" + reference.word] + (key.map { [$0] } ?? []))]
    }
    guard let key, let list = reference.searchList(call), list.resolution(of: key).value != nil else { return [] }
    return [call.command(["read", "--layers"] + reference.words + [key])]
  }

  /// What a path leads to that names a directory.
  private static func directory(of reference: DomainReference) -> String {
    guard reference.isPath, (try? FileMetadata.of(reference.word))?.isDirectory == true else { return "" }
    return "; \(reference.shown) is a directory, and there is no \(reference.shown).plist"
  }

  /// The names of domains that look like one; none for a path. A file that has lost its last key is no domain.
  static func names(near reference: DomainReference) -> [String] {
    guard !reference.isPath, let name = reference.name else { return [] }
    let files = (try? PersistentDomain.names(in: reference.locations)) ?? []
    let known = files.filter { hasKeys($0, in: reference.locations) }
    return suggestions(name, among: known)
  }

  /// Also where that can't be said.
  private static func hasKeys(_ name: String, in locations: PreferenceLocations) -> Bool {
    guard let domain = try? PersistentDomain(name, in: locations) else { return false }
    do throws(PreferencesFault) { return try domain.read()?.isEmpty == false } catch { return true }
  }

  static func suggestions(_ word: String, among known: some Sequence<String>) -> [String] {
    Suggestion.nearest(to: word, among: known).map { TerminalText.escape($0) }
  }

  /// A file that can't be used may be where the answer was.
  private static func code(_ domain: VisibleDomain) -> ExitCode {
    domain.faults.first.map { CommandFailure($0).exitCode } ?? .no
  }

  private static func fault(of domain: VisibleDomain) -> CommandFailure? {
    guard !domain.faults.isEmpty else { return nil }
    return CommandFailure(code(domain), "Domain \(domain.reference.shown) can't be read")
  }
}
