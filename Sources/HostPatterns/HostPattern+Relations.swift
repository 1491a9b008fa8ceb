extension HostPattern {
  /// Whether some host name exists that both patterns mean. True also where the proof of the contrary would take too
  /// long, which no pattern of ordinary length comes near.
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
    return HostNameSearch(oneOfEach: [[self], [other]]).run() != .none
  }

  /// Whether every host that `other` means is proven to be one that this pattern means.
  ///
  /// False also where the proof would take too long, so a true answer may be relied on, a false one may not.
  public func subsumes(_ other: HostPattern) -> Bool {
    if text == other.text { return true }
    if tokens == [.anything] { return true }
    if hasDot && !other.hasDot { return false }  // A host enrolled under its short name alone has no dot.
    return HostNameSearch(oneOfEach: [[other]], noneOf: [self]).run() == .none
  }

  /// Whether two patterns agree on the letters that both begin with, up to the first choice of either.
  ///
  /// False is a proof that no host is meant by both, at the price of comparing a few bytes; true proves nothing.
  public func beginsLike(_ other: HostPattern) -> Bool {
    for (mine, others) in zip(tokens, other.tokens) {
      guard case .byte(let x) = mine, case .byte(let y) = others else { return true }
      if x != y { return false }
    }
    return true
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
