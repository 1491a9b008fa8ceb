import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList
import Synchronization
import UbiquitousStore

/// Keys that the policy lets roam: applications ask their synced store for them before any file, so a command that changes the
/// file alone would change nothing that is read.
extension DomainReference {
  /// What the store holds of the keys that roam; nil where none does, and where a flag or a path leads to one file.
  func roaming(_ policy: Policy) -> RoamingContents? {
    guard let keys = roamingKeys(policy) else { return nil }
    do throws(PreferencesFault) {
      var contents = try RoamingSnapshot.open(locations.roamingPlace(ofDomain: word)).contents
      // What the store has not got yet comes from the file.
      let unsent = file.unsentKeys()
      contents.values = contents.values.filter { keys.contains($0.key) && !unsent.contains($0.key) }
      return contents
    } catch {
      Defaults.note("warning: \(error.shown)")
      return nil
    }
  }

  private func roamingKeys(_ policy: Policy) -> Set<String>? {
    guard isOfStore, let name else { return nil }
    let keys = policy.roamingKeys(of: name)
    return keys.isEmpty ? nil : keys
  }

  /// Whether applications ask the user's store of this domain before what is read or changed here.
  private var isOfStore: Bool {
    isAboutThisHost && host == .any && user == .current && name != nil && name != GlobalDomain.name
  }

  /// What the store holds under keys that no policy lets roam, and where it is; nil where there is no such key.
  ///
  /// Which keys an application has declared to roam is known to it alone, and it may use the same store by itself, under whatever
  /// names: so what is here may be what the application reads first, or may have nothing to do with its preferences.
  func undeclared(_ policy: Policy) -> (path: String, contents: RoamingContents)? {
    guard isOfStore, let store = try? RoamingSnapshot.open(locations.roamingPlace(ofDomain: word)) else { return nil }
    let known = roamingKeys(policy) ?? []
    var contents = store.contents
    contents.values = contents.values.filter { !known.contains($0.key) }
    contents.removed.subtract(known)
    return contents == RoamingContents() ? nil : (store.path, contents)
  }

  /// Says which of the keys have another value in the store, or were removed there, though no policy lets them roam.
  func reportUndeclared(
    _ keys: Set<String>, of values: [String: PropertyListValue], _ policy: Policy
  ) {
    guard let store = undeclared(policy) else { return }
    for key in keys.sortedByBytes() {
      let held = store.contents.values[key]
      guard held != nil || store.contents.removed.contains(key), held != values[key] else { continue }
      let what =
        held == nil
        ? "does not have \(TerminalText.escape(key)) any more" : "has another value of \(TerminalText.escape(key))"
      Defaults.note(
        "note: the synced store \(what): an application that lets this key roam by itself goes by the store; change it there"
      )
    }
  }

  /// Marks changes of keys that the store has and that do not roam now, so that they are known to be the later ones should the keys
  /// roam again.
  private func markUndeclared(_ changed: Set<String>, from before: [String: PropertyListValue], _ policy: Policy) {
    guard let store = undeclared(policy) else { return }
    let keys = changed.intersection(file.roamedKeys()).filter {
      store.contents.values[$0] != nil || store.contents.removed.contains($0)
    }
    if keys.isEmpty { return }
    let now = WallClock.unixMilliseconds()
    let edits = keys.map { ($0, UnsentEdit(time: now, before: before[$0].map { [$0] } ?? [])) }
    do throws(PreferencesFault) { try file.markUnsent(Dictionary(uniqueKeysWithValues: edits)) } catch {
      Defaults.note("warning: \(error.shown)")
    }
  }

  /// Brings keys that were changed in the domain's file into the store, as an application does that sets them. Returns when
  /// they are on the disk. What the store can't get now is marked, for the next process that opens it.
  func carryOver(
    _ changed: Set<String>, from before: [String: PropertyListValue], to values: [String: PropertyListValue],
    _ call: Invocation
  ) throws(CommandFailure) {
    let policy = Policy(locations.installation)
    reportUndeclared(changed, of: values, policy)
    markUndeclared(changed, from: before, policy)
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
    let now = WallClock.unixMilliseconds()
    /// The store could not be reached: the file's values are handed to it later.
    func later(_ text: String) -> CommandFailure {
      do throws(PreferencesFault) {
        let edits = keys.map { ($0, UnsentEdit(time: now, before: before[$0].map { [$0] } ?? [])) }
        try file.markUnsent(Dictionary(uniqueKeysWithValues: edits))
      } catch {
        return failure("\(text); nor can it be marked as unsent: \(error.shown)")
      }
      return CommandFailure(
        .unavailable,
        "the file was changed, and applications read it, but it does not roam yet: \(TerminalText.escape(text)). It goes to "
          + "the synced store as soon as that can be opened",
        next: call.again())
    }
    let heard = Heard()
    let layer: any RoamingLayer
    do throws(PreferencesFault) {
      layer = try RoamingStore.open(locations.roamingPlace(ofDomain: word)) { heard.add($0) }
    } catch {
      heard.tell(except: error)
      throw later(error.description)
    }
    for key in keys.sorted() {
      if let refusal = layer.set(values[key], forKey: key) {
        heard.tell(except: PreferencesFault(.notRoaming, path: layer.path, message: refusal))
        throw failure(refusal)
      }
    }
    let isSaved = layer.synchronize()
    heard.tell(except: nil)
    if isSaved {
      file.settleUnsent(keys, before: now)
      do throws(PreferencesFault) { try file.noteRoamed(keys) } catch { Defaults.note("warning: \(error.shown)") }
    }
    if !isSaved { throw later("\(layer.path) can't be written") }
  }

  /// What the store says by itself, kept until it is known what the command says.
  private final class Heard: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    /// Says what was heard, but for what the command says itself.
    func tell(except fault: PreferencesFault?) {
      let texts = texts.withLock { $0 }
      for text in texts {
        if let fault {
          let place = fault.path + ": "
          let bare = text.utf8.starts(with: place.utf8) ? text.utf8.dropFirst(place.utf8.count) : text.utf8[...]
          if fault.message.contains(bytesOf: String(decoding: bare, as: UTF8.self)) { continue }
          if text.utf8.starts(with: fault.message.utf8) { continue }
        }
        Defaults.note("warning: \(TerminalText.escape(text))")
      }
    }
  }
}
