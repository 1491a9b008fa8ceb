import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// A word about nearer places: what was written, or what is left after a removal, is not what applications read when a file
/// that is asked earlier has the key too.
enum Masks {
  /// Says on standard error which of the keys have another value in a file that is asked before the one that was changed.
  static func report(_ keys: some Sequence<String>, in reference: DomainReference, _ call: Invocation) {
    let files = DomainPlace.files(of: reference, at: DomainPlace.all(of: reference))
    // Found by its path, which a domain by path has as well; another host's file is not asked here.
    guard
      let own = files.firstIndex(where: { $0.flags != nil && $0.domain.path == reference.file.path })
    else { return }
    let nearer = files[..<own].compactMap { file in
      ((try? file.domain.read()) ?? nil).map { (file: file, values: $0) }
    }
    let root = call.root.map { ["--root", $0] } ?? []
    for key in Set(keys).sortedByBytes() {
      guard let first = nearer.first(where: { $0.values[key] != nil }) else { continue }
      Defaults.note(
        "note: applications go on reading another value of \(TerminalText.escape(key)), from a file that comes first: "
          + TerminalText.escape(first.file.domain.path),
        next: first.file.flags.map {
          [ShellWord.join([Defaults.name] + root + $0 + ["delete"] + reference.nameWords + [key])]
        } ?? [])
    }
  }
}
