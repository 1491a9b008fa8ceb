import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// Changes of many keys at once: `import`, `delete DOMAIN`, `write DOMAIN '{…}'`.
///
/// All or nothing: the change is worked out on what the file holds, under its lock, and if it would touch the value of any
/// forced key, nothing is written. A forced key whose stored value stays as it is, is not touched: what was exported from a
/// domain can be imported into it again.
enum WholeDomain {
  /// - Parameters:
  ///   - operation: for auditors.
  ///   - refusesAnyForcedKey: a key that is forced in the domain refuses the change even where it has no stored value.
  static func change(
    _ reference: DomainReference, _ call: Invocation, operation: String,
    refusesAnyForcedKey: Bool = false,
    _ body: (inout [String: PropertyListValue]) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    let refusal = Refusal(reference, call)
    let skips = call.arguments.has("--skip-forced")
    var touched: [String] = []
    var skipped: [String] = []
    if let refusal, !skips || refusal.policy.isLocked {
      let forced = refusesAnyForcedKey ? refusal.allForcedKeys : []
      try refusal.check(forced, operation: operation, mayBeSkipped: true)
    }
    try reference.change(call) { values throws(CommandFailure) in
      var changed = values
      try body(&changed)
      touched = keys(of: values, differingIn: changed)
      if skips, let refusal {
        skipped = refusal.forcedKeys(among: touched).map(\.key)
        for key in skipped { changed[key] = values[key] }
        touched.removeAll { skipped.contains($0) }
      } else {
        try refusal?.check(touched, operation: operation, mayBeSkipped: true)
      }
      values = changed
    }
    if !skipped.isEmpty {
      let names = skipped.prefix(20).map { TerminalText.escape($0) }.joined(separator: ", ")
      Defaults.note(
        "note: \(skipped.count) forced \(skipped.count == 1 ? "key" : "keys") left as before: \(names)"
          + (skipped.count > 20 ? ", …" : ""))
    }
    Masks.report(touched, in: reference, call)
  }

  private static func keys(
    of values: [String: PropertyListValue], differingIn others: [String: PropertyListValue]
  ) -> [String] {
    Set(values.keys).union(others.keys).filter { values[$0] != others[$0] }
  }
}
