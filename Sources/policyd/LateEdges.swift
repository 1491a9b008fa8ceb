import AuditEvents
import AuditLog
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// The edges of time windows that passed while no agent ran, as records.
///
/// The law: what an agent's last sign of life in the log says (`agent.started` or `agent.heartbeat`) is that it had recorded
/// each edge up to then; so both are written behind the edges before them. From there on each generation's windows count for
/// the time for which it was in force, as the log tells it; what the log has of them behind the sign of life is not
/// recorded again. So an edge is on record once, wherever an agent was ended. Where no agent ever ran, nothing is late.
struct LateEdges {
  /// In the order of their moments within each generation.
  private(set) var records: [AgentRecord] = []
  /// Unix seconds up to which no edge is missing any more.
  let through: Int64
  /// What can't be told, in words.
  private(set) var untold: [String] = []

  /// - Parameters:
  ///   - file: what is in force now.
  ///   - now: Unix seconds.
  /// - Complexity: O(records since the last sign of life, and as many again).
  init(
    of installation: Installation, file: ForcedDomain?, in place: AuditLogPlace, now: Int64
  ) throws(AuditLogError) {
    through = now
    guard var history = try History(of: place) else { return }
    // A generation is on record before it takes effect: what is in force has the last word.
    if let file { history.spans[history.spans.count - 1].generation = file.generation }
    for (index, span) in history.spans.enumerated() {
      let end = index + 1 < history.spans.count ? history.spans[index + 1].start : now
      guard span.generation > 0, span.start < end else { continue }
      let edges: WindowEdges
      if let file, file.generation == span.generation {
        edges = WindowEdges(of: file)
      } else {
        do throws(InstallError) {
          guard let kept = try KeptGeneration(span.generation, of: installation) else {
            untold.append(Self.words(span, end, "it is no longer kept"))
            continue
          }
          edges = WindowEdges(of: kept.forced)
        } catch {
          untold.append(Self.words(span, end, error.description))
          continue
        }
      }
      for edge in edges.passed(after: span.start, upTo: end) {
        let record = edge.record(generation: span.generation, isLate: true)
        if !history.told.contains(Told(record.kind.rawValue, record.fields)) { records.append(record) }
      }
    }
  }

  private static func words(_ span: Span, _ end: Int64, _ why: String) -> String {
    func text(_ instant: Int64) -> String { PropertyListDate(unixTime: Double(instant)).rfc3339 }
    return "windows of generation \(span.generation) that opened or closed from \(text(span.start)) to \(text(end)) "
      + "are not on record: \(why)"
  }

  /// From when on a generation was in force; 0 for none.
  private struct Span {
    var generation: UInt64
    let start: Int64
  }

  /// What tells an edge from every other, in a record.
  private struct Told: Hashable {
    let kind: String
    let edge: String?
    let profile: String?

    init(_ kind: String, _ fields: [String: PropertyListValue]) {
      self.kind = kind
      edge = fields["edge"]?.stringValue
      profile = fields["profile"]?.stringValue
    }
  }

  /// What the log says since the agent's last sign of life.
  private struct History {
    /// The first begins with the sign of life.
    var spans: [Span] = []
    var told: Set<Told> = []

    /// nil where there never was one.
    init?(of place: AuditLogPlace) throws(AuditLogError) {
      try read(place)
      if spans.isEmpty, let before = try Self.setAside(before: place) {
        // What was set aside proves nothing, and still tells where to begin: the edges are those of the generations.
        try read(before)
        try LogReader(place).forEachRecord { record throws(AuditLogError) in take(record) }
      }
      if spans.isEmpty { return nil }
    }

    private mutating func read(_ place: AuditLogPlace) throws(AuditLogError) {
      let reader = LogReader(place)
      let last = try reader.head()?.sequence ?? 0
      var count: UInt64 = 4096
      // Signs of life come every few minutes: the newest records are enough, as a rule.
      while last > 0 {
        let start = last > count ? last - count : 0
        try reader.forEachRecord(from: start) { record throws(AuditLogError) in take(record) }
        if !spans.isEmpty || start == 0 { return }
        count *= 16
      }
    }

    /// The log that was set aside last, where it is still there.
    private static func setAside(before place: AuditLogPlace) throws(AuditLogError) -> AuditLogPlace? {
      guard let folder = try LogReader(place).last(of: ["audit.set-aside"])?.fields["folder"]?.stringValue,
        folder.utf8.allSatisfy({ $0 != UInt8(ascii: "/") }), folder != ".."
      else { return nil }
      var before = place
      before.directory = FilePath.join(place.directory, folder)
      return before
    }

    private mutating func take(_ record: StoredRecord) {
      guard record.claimed == nil, record.unattested == nil else { return }
      let time = Int64(record.time.unixTime.rounded(.down))
      let generation = Self.number(record.fields["generation"])
      switch record.kind {
      case "agent.started", "agent.heartbeat":
        spans = [Span(generation: generation ?? 0, start: time)]
        told = []
      case "policy.installed", "policy.refreshed", "policy.rolled-back", "policy.uninstalled":
        guard let current = spans.last else { return }
        if let previous = Self.number(record.fields["previous"]) { spans[spans.count - 1].generation = previous }
        let next = record.kind == "policy.uninstalled" ? 0 : generation ?? 0
        spans.append(Span(generation: next, start: max(current.start, time)))
      case "policy.window-opened", "policy.window-closed": told.insert(Told(record.kind, record.fields))
      default: break
      }
    }

    private static func number(_ value: PropertyListValue?) -> UInt64? {
      (value?.integerValue).flatMap { UInt64(exactly: $0) }
    }
  }
}

extension WindowEdges.Edge {
  /// - Parameter isLate: nobody noticed it when it passed.
  func record(generation: UInt64, isLate: Bool) -> AgentRecord {
    var fields: [String: PropertyListValue] = [
      "generation": .number(generation), "profile": .string(profile),
      "edge": .string(PropertyListDate(unixTime: Double(instant)).rfc3339),
    ]
    if isLate { fields["late"] = .boolean(true) }
    return AgentRecord(opens ? .windowOpened : .windowClosed, fields)
  }
}
