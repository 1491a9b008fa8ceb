/// Whether a host exists that every one of several lists of patterns means and no exception does.
///
/// This is how the compiler proves that two policy entries can never meet on one host: a list for the hosts of each
/// entry, one for the inventory, and the exceptions of both. The search walks all patterns at once, letter by letter,
/// as one automaton; it never expands a range, so it costs what the patterns' text costs, however many hosts they mean.
public struct HostNameSearch: Sendable {
  /// What the search found.
  public enum Answer: Sendable, Hashable {
    /// Such a host may exist; this is a shortest name that it could have.
    case example(String)
    /// Proof that no such host can exist.
    case none
    /// The proof would take more than the allowed work: count the hosts as able to meet.
    case undecided
  }

  private var states: [NameState] = []
  private var initial: [Int32] = []
  private let listCount: Int

  /// - Parameters:
  ///   - lists: a host must be meant by at least one pattern of each list; an empty list is met by no host.
  ///   - exceptions: a host that one of these means does not count.
  public init(oneOfEach lists: [[HostPattern]], noneOf exceptions: [HostPattern] = []) {
    listCount = lists.count
    for (index, list) in lists.enumerated() {
      for pattern in Set(list) { append(pattern, owner: Int32(index)) }
    }
    for pattern in Set(exceptions) { append(pattern, owner: -1) }
  }

  /// Searches, breadth first.
  ///
  /// - Parameter limit: the work allowed, in steps of one state by one letter.
  /// - Complexity: O(product of the lists' lengths) at worst; lists of literal names and ranges part after their common
  ///   beginnings.
  public func run(limit: Int = 2_000_000) -> Answer {
    var sets: [[Int32]] = [closed(initial)]
    var cameFrom: [(set: Int, letter: Int)] = [(-1, 0)]
    // Without the start: it may not end the name nor take a dot, but the same places can, later on.
    var seen: Set<[Int32]> = []
    var work = 0
    var index = 0
    while index < sets.count {
      let set = sets[index]
      if index > 0 && accepts(set) { return .example(name(endingAt: index, cameFrom)) }
      var letters = candidates(set)
      if index == 0 { letters &= ~NameAlphabet.dot }  // A name does not start with a dot.
      while letters != 0 {
        let letter = letters.trailingZeroBitCount
        letters &= letters - 1
        work += set.count
        guard work <= limit else { return .undecided }
        let reached = step(set, letter)
        guard meetsEveryList(reached), seen.insert(reached).inserted else { continue }
        sets.append(reached)
        cameFrom.append((index, letter))
      }
      index += 1
    }
    return .none
  }

  // MARK: The automaton

  private mutating func append(_ pattern: HostPattern, owner: Int32) {
    let isShort = !pattern.hasDot
    let wild = isShort ? NameAlphabet.all & ~NameAlphabet.dot : NameAlphabet.all
    initial.append(Int32(states.count))
    func add(_ letters: UInt64, _ kind: NameState.Kind) {
      states.append(NameState(owner: owner, letters: letters, kind: kind))
    }
    for token in pattern.tokens {
      switch token {
      case .byte(let byte): add(NameAlphabet.mask(of: byte), .one)
      case .anyByte: add(wild, .one)
      case .anything: add(wild, .star)
      case .number(let low, let high, let width):
        let start = Int32(states.count)
        for (digits, kind) in NameState.digits(from: low, through: high, width: width, at: start) { add(digits, kind) }
      }
    }
    if isShort {
      add(NameAlphabet.dot, .shortEnd)
      add(NameAlphabet.all, .tail)
    } else {
      add(0, .end)
    }
  }

  private func closed(_ set: [Int32]) -> [Int32] {
    var all = set
    var index = 0
    while index < all.count {
      if case .star = states[Int(all[index])].kind { all.append(all[index] + 1) }
      index += 1
    }
    return all.count < 2 ? all : NameState.sortedUnique(all)
  }

  private func step(_ set: [Int32], _ letter: Int) -> [Int32] {
    let bit = UInt64(1) << UInt64(letter)
    var reached: [Int32] = []
    for index in set {
      let state = states[Int(index)]
      guard state.letters & bit != 0 else { continue }
      switch state.kind {
      case .one, .shortEnd: reached.append(index + 1)
      case .star, .tail: reached.append(index)
      case .digit(let low, let high, let onLow, let between, let onHigh):
        let digit = letter - NameAlphabet.firstDigit
        reached.append(digit == low ? onLow : digit == high ? onHigh : between)
      case .end: break
      }
    }
    return closed(reached)
  }

  /// The letters that lead on in every list, wild cards narrowed to one letter for all those that nobody names.
  private func candidates(_ set: [Int32]) -> UInt64 {
    var lists = [UInt64](repeating: 0, count: listCount)
    var named: UInt64 = NameAlphabet.dot
    for index in set {
      let state = states[Int(index)]
      if state.owner >= 0 { lists[Int(state.owner)] |= state.letters }
      if !state.isWild { named |= state.letters }
    }
    let possible = lists.reduce(NameAlphabet.all) { $0 & $1 }
    let unnamed = possible & ~named
    return possible & named | unnamed & (~unnamed &+ 1)
  }

  // States are numbered list by list, so a sorted set names its lists in order.
  private func meetsEveryList(_ set: [Int32]) -> Bool {
    var met = 0
    var last: Int32 = -1
    for index in set {
      let owner = states[Int(index)].owner
      guard owner > last else { continue }
      met += 1
      last = owner
    }
    return met == listCount
  }

  private func accepts(_ set: [Int32]) -> Bool {
    var met = [Bool](repeating: false, count: listCount)
    for index in set {
      let state = states[Int(index)]
      guard state.isFinal else { continue }
      if state.owner < 0 { return false }
      met[Int(state.owner)] = true
    }
    return met.allSatisfy { $0 }
  }

  private func name(endingAt index: Int, _ cameFrom: [(set: Int, letter: Int)]) -> String {
    var letters: [UInt8] = []
    var index = index
    while cameFrom[index].set >= 0 {
      letters.append(NameAlphabet.letters[cameFrom[index].letter])
      index = cameFrom[index].set
    }
    return String(decoding: letters.reversed(), as: UTF8.self)
  }
}

/// The characters that host names have, as bits.
private enum NameAlphabet {
  static let letters: [UInt8] = Array("abcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
  static let firstDigit = 26
  static let all: UInt64 = (1 << 39) - 1
  static let dot: UInt64 = 1 << 38

  static func mask(of byte: UInt8) -> UInt64 {
    switch byte {
    case 0x61...0x7A: 1 << UInt64(byte - 0x61)
    case 0x30...0x39: 1 << UInt64(byte - 0x30 + 26)
    case UInt8(ascii: "-"): 1 << 36
    case UInt8(ascii: "_"): 1 << 37
    default: dot
    }
  }
}

/// One place in a pattern, and where a letter leads from there.
private struct NameState {
  enum Kind {
    /// Takes one letter and goes on.
    case one
    /// Takes any number of letters, none included.
    case star
    /// One digit of a range's number: the lowest and highest digit allowed here, and where each leads.
    case digit(low: Int, high: Int, onLow: Int32, between: Int32, onHigh: Int32)
    /// Where a short name may end: here, or with a dot and anything.
    case shortEnd
    /// The rest of a full name, behind the short one.
    case tail
    case end
  }

  /// The list that the pattern belongs to; −1 for exceptions.
  let owner: Int32
  let letters: UInt64
  let kind: Kind

  var isFinal: Bool {
    switch kind {
    case .shortEnd, .tail, .end: true
    default: false
    }
  }

  var isWild: Bool { letters.nonzeroBitCount > 10 }

  /// The places of a number: four for each digit but the first (on neither bound, on the low one, on the high one, on
  /// both), so that a range takes room by its width, not by its numbers.
  static func digits(from low: UInt64, through high: UInt64, width: Int, at start: Int32) -> [(UInt64, Kind)] {
    func places(_ number: UInt64) -> [Int] {
      var rest = number
      var digits: [Int] = []
      for _ in 0..<width {
        digits.append(Int(rest % 10))
        rest /= 10
      }
      return digits.reversed()
    }
    let (lows, highs) = (places(low), places(high))
    let end = start + 1 + Int32(width - 1) * 4
    var all: [(UInt64, Kind)] = []
    for index in 0..<width {
      for bounds in index == 0 ? 3..<4 : 0..<4 {
        let (isLow, isHigh) = (bounds & 1 != 0, bounds & 2 != 0)
        let first = isLow ? lows[index] : 0
        let last = isHigh ? highs[index] : 9
        func next(_ bounds: Int32) -> Int32 { index + 1 == width ? end : start + 1 + Int32(index) * 4 + bounds }
        let onLow = next((isLow ? 1 : 0) | (isHigh && first == last ? 2 : 0))
        let kind = Kind.digit(
          low: first, high: last, onLow: onLow, between: next(0), onHigh: next(isHigh ? 2 : 0))
        let mask = first > last ? 0 : (UInt64(1) << UInt64(last - first + 1) - 1) << UInt64(first + 26)
        all.append((mask, kind))
      }
    }
    return all
  }

  static func sortedUnique(_ set: [Int32]) -> [Int32] {
    var result: [Int32] = []
    result.reserveCapacity(set.count)
    for state in set.sorted() where state != result.last { result.append(state) }
    return result
  }
}
