import PropertyList

/// The reports of many hosts, joined: what fails where, who is missing, and how it went over time.
///
/// The rules:
///
/// 1. Host names are one name whatever the case of their letters, and are shown in lower case.
/// 2. Of several reports for one host and user the newest counts, by the moment that it states, never by the file's time; the
///    others are its history, and are listed.
/// 3. A host that the inventory does not list counts in no figure. A host that it lists and that sent nothing is missing: it
///    is counted, and a fleet with missing hosts has not passed.
/// 4. A file that can't be read whole counts for nothing, and is named.
/// 5. Every figure is counted again from the results; what a report says of itself can make it worse, never better.
public struct FleetReport: Sendable {
  /// One host and user, by the newest report.
  public struct Row: Sendable {
    /// In lower case.
    public let host: String
    public let user: String
    public let generation: UInt64?
    public let made: Int64?
    public let sources: String
    public let counts: ResultCounts
    public let verdict: Verdict
    /// The number of a control in `controls` → its result; nil where the report does not have the control.
    public internal(set) var results: [ControlResult?]
    public let file: String

    /// The report calls the host worse than its controls are: its update was refused, or what binds can't be read.
    public var isWorseThanItsControls: Bool { verdict != Verdict(counts) }
  }

  /// One control over all rows.
  public struct Control: Sendable {
    public let id: String
    public let title: String
    public let severity: String
    public internal(set) var counts = ResultCounts()
    /// Rows in which it fails or is an error, with the message.
    public internal(set) var bad: [(row: Int, message: String)] = []
  }

  /// A report that does not count, and the file that does in its place.
  public struct Replaced: Sendable, Hashable {
    public let file: String
    public let host: String
    public let user: String
    public let made: Int64?
    public let by: String
  }

  public struct Named: Sendable, Hashable {
    public let name: String
    public let why: String
  }

  /// How one host and user went over time, oldest first.
  public struct History: Sendable {
    public struct Point: Sendable {
      public let made: Int64
      public let generation: UInt64?
      public let counts: ResultCounts
    }

    public let host: String
    public let user: String
    public let points: [Point]
  }

  /// Sorted by host, then user.
  public private(set) var rows: [Row] = []
  /// In the order in which the rows' reports name them first.
  public private(set) var controls: [Control] = []
  /// nil without an inventory.
  public private(set) var expected: Int?
  public private(set) var missing: [String] = []
  /// Hosts that the inventory does not list, with their files.
  public private(set) var unknown: [Named] = []
  public private(set) var replaced: [Replaced] = []
  public private(set) var unreadable: [Named] = []
  public private(set) var notes: [String] = []
  /// Of rows with at least two reports that say when they were made.
  public private(set) var histories: [History] = []
  /// When the fleet report was made, in Unix seconds.
  public let made: Int64

  /// The results of all rows together.
  public var counts: ResultCounts { rows.reduce(into: ResultCounts()) { $0 += $1.counts } }

  /// Hosts that have a row.
  public var hostCount: Int { Set(rows.map(\.host)).count }

  public var verdict: Verdict {
    let worst = rows.reduce(Verdict.nothingChecked) { Verdict.worse($0, $1.verdict) }
    let isIncomplete = !missing.isEmpty || !unreadable.isEmpty
    return isIncomplete ? Verdict.worse(worst, .incomplete) : worst
  }

  /// Joins the files of a collection.
  ///
  /// - Parameters:
  ///   - files: in the order of their names.
  ///   - expected: nil where nobody says which hosts there are: then all count and none is missing.
  ///   - isHostName: whether a name can be a host's, by the engine's one rule. A file with another counts for nothing: nobody
  ///     reports under it, and it could be anything.
  ///   - progress: called after each file with the number of files read.
  /// - Complexity: O(bytes), reports × log reports.
  public init(
    _ files: some Sequence<CollectedFile>, expecting expected: ExpectedHosts?, made: Int64,
    isHostName: (String) -> Bool = { !$0.isEmpty }, progress: (Int) -> Void = { _ in }
  ) {
    self.made = made
    self.expected = expected?.names.count
    var all: [Key: [CollectedReport]] = [:]
    var count = 0
    for file in files {
      count += 1
      progress(count)
      switch file.contents {
      case .unreadable(let why): unreadable.append(Named(name: file.name, why: why))
      case .bytes(let bytes):
        do throws(JSONCursor.Fault) {
          let reports = try CollectedReport.read(bytes, file: file.name)
          if let why = Self.fault(in: reports, isHostName) {
            unreadable.append(Named(name: file.name, why: why))
            continue
          }
          for report in reports {
            let host = report.host.asciiLowercased
            if let expected, !expected.lists(host) {
              unknown.append(Named(name: host, why: file.name))
            } else {
              all[Key(host: host, user: report.user), default: []].append(report)
            }
          }
        } catch {
          unreadable.append(Named(name: file.name, why: "\(error.message) (byte \(error.offset))"))
        }
      }
    }
    join(all)
    if let expected { look(for: expected) }
  }

  /// Bytes of a user's name: accounts have at most 32, and what-if questions name groups.
  private static let longestUser = 1024

  private static func fault(in reports: [CollectedReport], _ isHostName: (String) -> Bool) -> String? {
    if reports.contains(where: { !isHostName($0.host) }) { return "it names a host that can't be one" }
    if reports.contains(where: { $0.user.utf8.count > longestUser }) { return "it names a user that can't be one" }
    return nil
  }

  private struct Key: Hashable, Comparable {
    let host: String
    let user: String

    static func < (a: Key, b: Key) -> Bool {
      if a.host != b.host { return a.host.utf8.lexicographicallyPrecedes(b.host.utf8) }
      return a.user.utf8.lexicographicallyPrecedes(b.user.utf8)
    }
  }

  private mutating func join(_ all: [Key: [CollectedReport]]) {
    var numbers: [String: Int] = [:]
    for key in all.keys.sorted() {
      let reports = (all[key] ?? []).sorted(by: Self.isOlder)
      guard let newest = reports.last else { continue }
      for report in reports.dropLast() {
        replaced.append(
          Replaced(file: report.file, host: key.host, user: key.user, made: report.made, by: newest.file))
      }
      let points = reports.compactMap { report in
        report.made.map { History.Point(made: $0, generation: report.generation, counts: report.counts) }
      }
      if points.count > 1 { histories.append(History(host: key.host, user: key.user, points: points)) }
      add(newest, key, &numbers)
    }
    // Rows that came before a control was first named have no result for it.
    for index in rows.indices {
      rows[index].results += [ControlResult?](repeating: nil, count: controls.count - rows[index].results.count)
    }
  }

  private mutating func add(_ report: CollectedReport, _ key: Key, _ numbers: inout [String: Int]) {
    var results = [ControlResult?](repeating: nil, count: controls.count)
    for control in report.controls {
      let number: Int
      if let known = numbers[control.id] {
        number = known
      } else {
        number = controls.count
        numbers[control.id] = number
        controls.append(Control(id: control.id, title: control.title, severity: control.severity))
        results.append(nil)
      }
      results[number] = control.result
      controls[number].counts[control.result] += 1
      if control.result == .fail || control.result == .error {
        controls[number].bad.append((rows.count, control.message))
      }
    }
    rows.append(
      Row(
        host: key.host, user: key.user, generation: report.generation, made: report.made, sources: report.sources,
        counts: report.counts, verdict: report.verdict, results: results, file: report.file))
  }

  /// By the stated moment; then by generation, then by the file's name.
  private static func isOlder(_ a: CollectedReport, _ b: CollectedReport) -> Bool {
    if a.made != b.made { return a.made.map { made in b.made.map { made < $0 } ?? false } ?? true }
    if a.generation != b.generation { return a.generation ?? 0 < b.generation ?? 0 }
    return a.file.utf8.lexicographicallyPrecedes(b.file.utf8)
  }

  private mutating func look(for expected: ExpectedHosts) {
    var present = Set(rows.map(\.host))
    present.formUnion(rows.map { String($0.host.prefix { $0 != "." }) })
    missing = expected.names.filter { !present.contains($0) }
    for pattern in expected.openPatterns {
      notes.append(
        "The inventory lists '\(pattern)', which names no hosts one by one: who is missing of those is not known.")
    }
    for name in expected.doubled {
      notes.append("The inventory lists '\(name)' more than once; it counts as one host.")
    }
  }
}

extension String {
  /// A–Z lowered, in every locale: host names have no other case.
  var asciiLowercased: String {
    if utf8.allSatisfy({ !(0x41...0x5A ~= $0) }) { return self }
    return String(decoding: utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
