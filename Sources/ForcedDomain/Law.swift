/// THE LAW of one key (rule 2 of the policy language). It stands here, and nowhere else.
///
/// The entries of a key in one section are walked from the highest rank down.
///
/// - An entry whose condition does not hold is passed over, as if it were not there. A condition that can't be decided
///   holds for `replace` and `union`, and does not hold for `release`: doubt never frees a key.
/// - `replace` gives its value and ends the walk.
/// - `union` adds its elements to what has been gathered, and the walk goes on. Arrays: in the order of the walk, an
///   element that is already there is not added again. Dictionaries: key by key, what is there stays, so the higher rank
///   wins. A `replace` below a `union` adds its elements in the same way, as the last.
/// - `release` ends the walk with what has been gathered.
/// - When the entries end, what has been gathered is the answer.
/// - Nothing gathered: the policy has no value for the key; the layers below decide.
///
/// Forced and recommended entries never meet: each section has a walk of its own, and only forced ones can be released.
/// Two entries of one rank can't hold together and differ; the compiler refuses that. Unions of one rank stand in the
/// order of their canonical bytes. Files, names and the order of writing decide nothing.
///
/// - Parameter recorder: is told what happens to each entry, and so decides what an answer costs: the value alone, or
///   the whole evidence. Both come from this one walk.
extension DomainView {
  @inline(__always)
  func walk<Recorder: WalkRecorder>(
    _ entries: Range<Int>, under truth: borrowing ConditionTruth, recording recorder: inout Recorder
  ) {
    for index in entries {
      let entry = entry(index)
      switch entry.action {
      case EntryAction.replace.rawValue:
        guard truth.holds(Int(entry.condition), for: .replace) else { continue }
        recorder.gives(index, entry)
        return
      case EntryAction.union.rawValue:
        guard truth.holds(Int(entry.condition), for: .union) else { continue }
        recorder.gives(index, entry)
      default:
        guard truth.holds(Int(entry.condition), for: .release) else { continue }
        recorder.releases(index)
        return
      }
    }
  }
}

/// What is kept of a walk.
protocol WalkRecorder {
  /// The entry gave its value, or elements of it.
  mutating func gives(_ index: Int, _ entry: EntryRecord)
  /// The entry ended the walk.
  mutating func releases(_ index: Int)
}

/// Only what is needed for the value: the entries that give it, in rank order.
struct Contributors: WalkRecorder {
  private(set) var first: EntryRecord?
  private(set) var rest: [EntryRecord] = []

  @inline(__always)
  mutating func gives(_ index: Int, _ entry: EntryRecord) {
    if first == nil { first = entry } else { rest.append(entry) }
  }

  @inline(__always)
  mutating func releases(_ index: Int) {}
}

/// Everything that `explain` shows: also which entries they were, and which one ended the walk.
struct Evidence: WalkRecorder {
  private(set) var contributors = Contributors()
  private(set) var giving: Set<Int> = []
  private(set) var releasing: Int?

  mutating func gives(_ index: Int, _ entry: EntryRecord) {
    contributors.gives(index, entry)
    giving.insert(index)
  }

  mutating func releases(_ index: Int) { releasing = index }
}
