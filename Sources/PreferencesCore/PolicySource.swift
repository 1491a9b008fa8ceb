import ForcedDomain
import LinuxFiles

/// The forced domain of one installation, as this process has it in use.
///
/// All members are guarded by the engine's lock, except that `disk` serializes looking at the files.
final class PolicySource: @unchecked Sendable {
  enum State {
    case notInstalled
    case loaded(ForcedDomain)
    /// Installed, and nothing readable is there: everything counts as forced.
    case unavailable
  }

  let installation: Installation
  let disk = EngineLock()
  var state = State.notInstalled
  var faults: [DomainFault] = []
  var isLoaded = false
  var users: [ObjectIdentifier: ListState] = [:]
  private var seen = Sighting()
  /// The marker stayed while the forced file changed: an installation in progress changes the marker next.
  private var isForcedFileAhead = false

  init(_ installation: Installation) { self.installation = installation }

  /// What the marker and the forced file looked like.
  private struct Sighting: Equatable {
    var marker: FileMetadata?
    var forced: FileMetadata?
  }

  private func look() -> Sighting {
    Sighting(
      marker: try? FileMetadata.of(installation.generationMarker, followingLinks: false),
      forced: try? FileMetadata.of(installation.forcedFile, followingLinks: false))
  }

  /// Loads what is there if it is another than what was seen. The caller holds `disk`, not the engine's lock.
  ///
  /// The same function, with the same checks, opens the first generation and every later one.
  /// - Returns: nil when nothing changed.
  func reload(keeping current: ForcedDomain?) -> ForcedDomainLoad? {
    // Looked at before loading: what changes in between is seen as a change next time.
    let now = look()
    if isLoaded {
      if now == seen {
        isForcedFileAhead = false
        return nil
      }
      // Without a marker there is none to wait for.
      if now.marker == seen.marker, now.marker != nil, !isForcedFileAhead {
        isForcedFileAhead = true
        return nil
      }
    }
    isForcedFileAhead = false
    seen = now
    return ForcedDomainLoader(installation).load(keeping: current)
  }

  /// Takes over what was loaded. Under the engine's lock.
  /// - Returns: the faults that are new.
  func take(_ load: ForcedDomainLoad) -> [DomainFault] {
    let before = faults
    switch load {
    case .notInstalled:
      state = .notInstalled
      faults = []
    case .loaded(let domain, let faults):
      state = .loaded(domain)
      self.faults = faults
    case .unavailable(let faults):
      // What was once read whole is better than nothing: the last good generation stays.
      if case .loaded = state {} else { state = .unavailable }
      self.faults = faults
    }
    isLoaded = true
    return faults.filter { !before.contains($0) }
  }

  var domain: ForcedDomain? {
    if case .loaded(let domain) = state { domain } else { nil }
  }

  var isUnavailable: Bool {
    if case .unavailable = state { true } else { false }
  }
}

/// The forced domain as it holds for one search list: for its user, at an instant.
struct PolicyView {
  var domain: ForcedDomain?
  var truth: ConditionTruth?
  var instant: Int64 = .min
  var isUnavailable = false

  init() {}

  init(_ source: PolicySource, user: UserFacts, instant: Int64) {
    domain = source.domain
    isUnavailable = source.isUnavailable
    truth = domain?.truth(in: EvaluationContext(user: user, instant: instant))
    self.instant = instant
  }

  /// Whether a window has opened or closed since, or the clock was turned back.
  func isOutdated(at now: Int64) -> Bool {
    guard let truth else { return false }
    if now < instant { return true }
    return truth.nextEdge.map { $0 <= now } ?? false
  }

  /// Who forces a key of a domain, in rank order; nil when nobody does.
  func forcedBy(_ key: String, inDomain name: String) -> [ForcedBy]? {
    guard let domain, let truth else { return nil }
    let resolution = domain.resolve(domain: name, key: key, section: .forced, under: truth)
    if resolution.value == nil { return nil }
    let conditions = domain.conditions
    return resolution.profiles.map { profile in
      let entries = resolution.contributors.filter { $0.profile == profile }
      let ends = entries.map { end(ofCondition: $0.conditionIndex, conditions, domain) ?? .max }
      let last = ends.max() ?? .max
      return ForcedBy(
        profile: profile.id, title: profile.title, generation: domain.generation, until: last == .max ? nil : last)
    }
  }

  /// When a condition that holds stops holding by itself.
  private func end(ofCondition index: Int, _ conditions: [Condition], _ domain: ForcedDomain) -> Int64? {
    guard conditions.indices.contains(index) else { return nil }
    let condition = conditions[index]
    var ends = condition.notAfter.map { [$0] } ?? []
    if !condition.windows.isEmpty {
      let intervals = domain.intervals(ofCondition: index).joined().sorted { $0.lowerBound < $1.lowerBound }
      // Windows that touch or overlap count as one.
      var end: Int64?
      for interval in intervals {
        if interval.contains(instant) || end.map({ interval.lowerBound <= $0 }) ?? false {
          end = max(end ?? .min, interval.upperBound)
        }
      }
      if let end { ends.append(end) }
    }
    for outer in condition.within {
      if let place = conditions[..<index].lastIndex(of: outer), let end = end(ofCondition: place, conditions, domain) {
        ends.append(end)
      }
    }
    return ends.min()
  }
}
