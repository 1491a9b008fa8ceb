import ForcedDomain

/// The moments at which time windows of the profiles in force open and close.
///
/// The law: a profile's window is what one condition of its entries allows, all its rules together (those of a
/// profile hold around those of its overrides); where they touch or overlap there is no edge. The horizon's ends are no edges.
struct WindowEdges {
  struct Edge: Hashable, Comparable {
    let instant: Int64
    let opens: Bool
    let profile: String

    static func < (a: Self, b: Self) -> Bool {
      (a.instant, a.opens ? 1 : 0, a.profile) < (b.instant, b.opens ? 1 : 0, b.profile)
    }
  }

  /// Sorted.
  private let edges: [Edge]

  init() { edges = [] }

  /// - Complexity: O(entries + intervals).
  init(of file: ForcedDomain) {
    let conditions = file.conditions
    let numbers = Dictionary(zip(conditions, conditions.indices)) { first, _ in first }
    var profiles: [Int: Set<Int>] = [:]
    file.forEachEntry { entry in
      let condition = conditions[entry.condition]
      if !condition.windows.isEmpty { profiles[entry.condition, default: []].insert(entry.profile) }
      for outer in condition.within where !outer.windows.isEmpty {
        if let number = numbers[outer] { profiles[number, default: []].insert(entry.profile) }
      }
    }
    var found: Set<Edge> = []
    for (condition, profiles) in profiles {
      let spans = Self.joined(file.intervals(ofCondition: condition).flatMap { $0 })
      for profile in profiles.map({ file.profiles[$0].id }) {
        for span in spans {
          if span.lowerBound > file.horizon.lowerBound {
            found.insert(Edge(instant: span.lowerBound, opens: true, profile: profile))
          }
          if span.upperBound < file.horizon.upperBound {
            found.insert(Edge(instant: span.upperBound, opens: false, profile: profile))
          }
        }
      }
    }
    edges = found.sorted()
  }

  /// Spans of time as few as there can be.
  static func joined(_ spans: [Range<Int64>]) -> [Range<Int64>] {
    var result: [Range<Int64>] = []
    for span in spans.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
      if let last = result.last, span.lowerBound <= last.upperBound {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
      } else {
        result.append(span)
      }
    }
    return result
  }

  /// The edges after one moment up to another.
  func passed(after last: Int64, upTo now: Int64) -> ArraySlice<Edge> {
    let start = firstIndex { $0.instant > last }
    let end = firstIndex { $0.instant > now }
    return start < end ? edges[start..<end] : []
  }

  func next(after now: Int64) -> Int64? {
    let index = firstIndex { $0.instant > now }
    return index < edges.count ? edges[index].instant : nil
  }

  private func firstIndex(where isBehind: (Edge) -> Bool) -> Int {
    var low = 0
    var high = edges.count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(edges[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
