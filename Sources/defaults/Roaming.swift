import CommandLineKit
import PreferencesCore
import PropertyList
import UbiquitousStore

/// Keys that the policy lets roam: applications ask their synced store for them before any file, so a command that changes the
/// file alone would change nothing that is read.
extension DomainReference {
  /// What the store holds of the keys that roam; nil where none does, and where a flag or a path leads to one file.
  func roaming(_ policy: Policy) -> RoamingContents? {
    guard let keys = roamingKeys(policy) else { return nil }
    do throws(PreferencesFault) {
      var contents = try RoamingSnapshot.open(locations.roamingPlace(ofDomain: word)).contents
      contents.values = contents.values.filter { keys.contains($0.key) }
      return contents
    } catch {
      Defaults.note("warning: \(error.shown)")
      return nil
    }
  }

  private func roamingKeys(_ policy: Policy) -> Set<String>? {
    guard isAboutThisHost, host == .any, user == .current, let name, name != GlobalDomain.name else { return nil }
    let keys = policy.roamingKeys(of: name)
    return keys.isEmpty ? nil : keys
  }

  /// Brings keys that were changed in the domain's file into the store, as an application does that sets them. Returns when
  /// they are on the disk.
  func carryOver(
    _ changed: Set<String>, of values: [String: PropertyListValue], _ call: Invocation
  ) throws(CommandFailure) {
    let policy = Policy(locations.installation)
    guard let keys = roamingKeys(policy)?.intersection(changed), !keys.isEmpty else { return }
    func failure(_ text: String) -> CommandFailure {
      // A store that can't be read hides nothing: then applications read the file.
      let held = (try? RoamingSnapshot.open(locations.roamingPlace(ofDomain: word)))?.contents.values ?? [:]
      let older = keys.filter { held[$0] != nil && held[$0] != values[$0] }.sorted()
      let names = older.map { TerminalText.escape($0) }.joined(separator: ", ")
      let what =
        older.isEmpty
        ? "the file was changed, and applications read it, but it does not roam"
        : "the file was changed, but applications go on reading what the synced store has of \(names)"
      return CommandFailure(.unavailable, "\(what): \(TerminalText.escape(text))", next: call.again())
    }
    let layer: any RoamingLayer
    do throws(PreferencesFault) { layer = try RoamingStore.open(locations.roamingPlace(ofDomain: word)) } catch {
      throw failure(error.message)
    }
    for key in keys.sorted() {
      if let refusal = layer.set(values[key], forKey: key) { throw failure(refusal) }
    }
    if !layer.synchronize() { throw failure("\(layer.path) can't be written") }
  }
}
