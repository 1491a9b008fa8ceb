import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// What `read`, `read-type` and `find` show of a domain: what an application of that domain gets from the policy and from
/// the files of that domain.
///
/// The law: what is forced comes first, then the synced store for keys that roam, then the domain's files in the order of the search list (`Layer`): this user's for
/// this host, this user's, those for every user. A flag narrows the files (`-currentHost`: those of this host; `-host`: those
/// of that host, where this host's policy forces nothing; `--any-user`: those for every user). A path is its file alone.
/// `NSGlobalDomain` is a domain of its own here, as on macOS: a key that only it has is not listed in others. What it forces
/// binds every application, so it answers in every domain for a key that is asked by name, or that the domain has.
final class VisibleDomain {
  struct Answer {
    let value: PropertyListValue
    let layer: Layer
    var isForced: Bool { layer == .forced }
  }

  let reference: DomainReference
  private let policy: Policy?
  /// In the order of asking.
  private let files: [(layer: Layer, domain: PersistentDomain)]
  private var contents: [PersistentDomain: [String: PropertyListValue]] = [:]
  /// Files that are there but could not be used, of those that were asked.
  private(set) var faults: [PreferencesFault] = []

  /// Whether what is wrong with the store has been said.
  private(set) var hasAskedStore = false
  private lazy var roaming: RoamingContents? = policy.flatMap {
    hasAskedStore = true
    return reference.roaming($0)
  }

  init(_ reference: DomainReference, _ policy: Policy) {
    self.reference = reference
    self.policy = reference.isAboutThisHost ? policy : nil
    files = Self.files(of: reference)
  }

  /// The files that are asked.
  private static func files(of reference: DomainReference) -> [(layer: Layer, domain: PersistentDomain)] {
    guard !reference.isPath else { return [(.application, reference.file)] }
    let places = DomainPlace.all(of: reference).compactMap { place -> DomainPlace? in
      if reference.user == .any, place.user != .any { return nil }
      if reference.host != .any, place.host == .any { return nil }
      let host = place.host == .current && reference.host != .any ? reference.host : place.host
      // This host's name in files costs more than to see that there are none.
      guard PersistentDomain.isPlace(in: reference.locations, user: place.user, host: host) else { return nil }
      return place.on(host)
    }
    return DomainPlace.files(of: reference, at: places).map { ($0.layer, $0.domain) }
  }

  func answer(_ key: String) -> Answer? {
    if let name = reference.name, let value = policy?.value(ofKey: key, in: name) {
      return Answer(value: value, layer: .forced)
    }
    if let value = roaming?.values[key] { return Answer(value: value, layer: .roaming) }
    for (layer, domain) in files {
      if let value = read(domain)[key] { return Answer(value: value, layer: layer) }
    }
    return nil
  }

  /// The answers for all keys that the domain has: those in its files, and those forced in it by its own name.
  func answers() -> [String: Answer] {
    var answers: [String: Answer] = [:]
    for (layer, domain) in files {
      answers.merge(read(domain).mapValues { Answer(value: $0, layer: layer) }) { first, _ in first }
    }
    for (key, value) in roaming?.values ?? [:] { answers[key] = Answer(value: value, layer: .roaming) }
    guard let name = reference.name, let policy else { return answers }
    for (key, value) in policy.values(in: name, alsoFor: answers.keys) {
      answers[key] = Answer(value: value, layer: .forced)
    }
    return answers
  }

  /// Whether something is forced in the domain, or one of its files has a key or can't be read. Nothing is said of files
  /// that can't be read.
  func exists() -> Bool {
    if let name = reference.name, let policy, !policy.values(in: name).isEmpty { return true }
    if let roaming, !roaming.values.isEmpty { return true }
    return files.contains { file in
      do throws(PreferencesFault) { return try file.domain.read()?.isEmpty == false } catch { return true }
    }
  }

  private func read(_ domain: PersistentDomain) -> [String: PropertyListValue] {
    if let known = contents[domain] { return known }
    var values: [String: PropertyListValue] = [:]
    do throws(PreferencesFault) {
      values = try domain.read() ?? [:]
    } catch {
      faults.append(error)
      Defaults.note("warning: \(error.shown)")
    }
    contents[domain] = values
    return values
  }
}
