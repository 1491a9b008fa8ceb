extension HostPattern {
  /// Whether some host name exists that both patterns mean. Exact.
  ///
  /// - Complexity: O(product of the lengths) at worst; patterns that begin or end differently are told apart at once.
  public func intersects(_ other: HostPattern) -> Bool {
    if text == other.text { return true }
    if kind == .literal && hasDot { return other.matches(hostName: text) }
    if other.kind == .literal && other.hasDot { return matches(hostName: other.text) }
    if hasDot == other.hasDot {
      if kind == .literal { return other.matches(hostName: text) }
      if other.kind == .literal { return matches(hostName: other.text) }
      if Self.endsDiffer(tokens, other.tokens) { return false }
    }
    let full = hasDot || other.hasDot
    return NameMachine(self, overFullNames: full).accepts(something: NameMachine(other, overFullNames: full))
  }

  /// Whether every host that `other` means is proven to be one that this pattern means.
  ///
  /// False also where the proof would take too long, so a true answer may be relied on, a false one may not.
  public func subsumes(_ other: HostPattern) -> Bool {
    if text == other.text { return true }
    if tokens == [.anything] { return true }
    if hasDot && !other.hasDot { return false }  // A host enrolled under its short name alone has no dot.
    let full = other.hasDot
    return NameMachine(self, overFullNames: full).accepts(everythingOf: NameMachine(other, overFullNames: full))
  }

  private static func endsDiffer(_ a: [Token], _ b: [Token]) -> Bool {
    func clash(_ pair: (Token, Token)) -> Bool? {
      guard case (.byte(let x), .byte(let y)) = pair else { return false }
      return x == y ? nil : true
    }
    for pair in zip(a, b) { if let decided = clash(pair) { if decided { return true } else { break } } }
    for pair in zip(a.reversed(), b.reversed()) {
      if let decided = clash(pair) { if decided { return true } else { break } }
    }
    return false
  }
}

/// A pattern as a small nondeterministic automaton over the characters that host names have.
///
/// Over full names, a pattern without a dot becomes "its short name, then nothing or a dot and anything".
private struct NameMachine {
  private enum State {
    case byte(UInt8)
    /// Any one character; `dot`: also a dot.
    case any(dot: Bool)
    /// Any number of characters, none included.
    case star(dot: Bool)
    /// Digit number `index` of a range's number; `low`, `high`: so far equal to that end.
    case digit(low: [UInt8], high: [UInt8], index: Int, onLow: Bool, onHigh: Bool)
    /// Where a short name may end: here, or with a dot and anything.
    case shortEnd
    case accept
  }

  private var states: [State] = []
  private var next: [[Int]] = []

  private static let alphabet: [UInt8] = Array("abcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
  private static let dot = UInt8(ascii: ".")

  init(_ pattern: HostPattern, overFullNames: Bool) {
    let short = !pattern.hasDot
    for token in pattern.tokens {
      switch token {
      case .byte(let byte): append(.byte(byte))
      case .anyByte: append(.any(dot: !short))
      case .anything: append(.star(dot: !short))
      case .number(let low, let high, let width): append(low: low, high: high, width: width)
      }
    }
    if short && overFullNames {
      append(.shortEnd)
      append(.star(dot: true))
    }
    states.append(.accept)
    next.append([])
  }

  private mutating func append(_ state: State) {
    states.append(state)
    next.append([states.count])
  }

  // Four states a digit: on neither bound, on the low one, on the high one, on both.
  private mutating func append(low: UInt64, high: UInt64, width: Int) {
    func digits(_ number: UInt64) -> [UInt8] {
      let text = Array(String(number).utf8)
      return [UInt8](repeating: 0x30, count: width - text.count) + text
    }
    let (low, high) = (digits(low), digits(high))
    let start = states.count
    let end = start + 1 + (width - 1) * 4
    states.append(.digit(low: low, high: high, index: 0, onLow: true, onHigh: true))
    next.append(width == 1 ? [end] : [start + 1])
    for index in 1..<max(1, width) {
      for bounds in 0..<4 {
        states.append(.digit(low: low, high: high, index: index, onLow: bounds & 1 != 0, onHigh: bounds & 2 != 0))
        next.append(index + 1 == width ? [end] : [start + 1 + index * 4])
      }
    }
  }

  /// The states that a character leads to, closed over stars that take nothing.
  private func step(_ state: Int, _ byte: UInt8, into reached: inout Set<Int>) {
    switch states[state] {
    case .byte(let expected):
      if byte == expected { close(state + 1, into: &reached) }
    case .any(let dot):
      if dot || byte != Self.dot { close(state + 1, into: &reached) }
    case .star(let dot):
      if dot || byte != Self.dot { close(state, into: &reached) }
    case .digit(let low, let high, let index, let onLow, let onHigh):
      guard byte >= 0x30, byte <= 0x39 else { return }
      if onLow && byte < low[index] || onHigh && byte > high[index] { return }
      let target = next[state][0]
      let isLast = index + 1 == low.count
      let bounds = (onLow && byte == low[index] ? 1 : 0) | (onHigh && byte == high[index] ? 2 : 0)
      close(isLast ? target : target + bounds, into: &reached)
    case .shortEnd:
      if byte == Self.dot { close(state + 1, into: &reached) }
    case .accept:
      return
    }
  }

  private func close(_ state: Int, into reached: inout Set<Int>) {
    guard reached.insert(state).inserted else { return }
    switch states[state] {
    case .star: close(state + 1, into: &reached)
    case .shortEnd: close(states.count - 1, into: &reached)
    default: break
    }
  }

  private var initial: Set<Int> {
    var reached: Set<Int> = []
    close(0, into: &reached)
    return reached
  }

  private var final: Int { states.count - 1 }

  func accepts(something other: NameMachine) -> Bool {
    var seen: Set<[Int]> = []
    var waiting: [(Int, Int)] = []
    for a in initial { for b in other.initial { waiting.append((a, b)) } }
    while let (a, b) = waiting.popLast() {
      guard seen.insert([a, b]).inserted else { continue }
      if a == final && b == other.final { return true }
      for byte in Self.alphabet {
        var mine: Set<Int> = []
        step(a, byte, into: &mine)
        if mine.isEmpty { continue }
        var others: Set<Int> = []
        other.step(b, byte, into: &others)
        for x in mine { for y in others { waiting.append((x, y)) } }
      }
    }
    return false
  }

  func accepts(everythingOf other: NameMachine) -> Bool {
    struct Pair: Hashable {
      var mine: Set<Int>
      var other: Int
    }
    var seen: Set<Pair> = []
    var waiting = other.initial.map { Pair(mine: initial, other: $0) }
    while let pair = waiting.popLast() {
      guard seen.insert(pair).inserted else { continue }
      guard seen.count <= 4096 else { return false }
      if pair.other == other.final && !pair.mine.contains(final) { return false }
      for byte in Self.alphabet {
        var others: Set<Int> = []
        other.step(pair.other, byte, into: &others)
        if others.isEmpty { continue }
        var mine: Set<Int> = []
        for state in pair.mine { step(state, byte, into: &mine) }
        for y in others { waiting.append(Pair(mine: mine, other: y)) }
      }
    }
    return true
  }
}
