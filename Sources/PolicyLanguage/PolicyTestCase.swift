public import PropertyList

/// A question to the policy and the answers it must give: one case of a `kind: Tests` document.
public struct PolicyTestCase: Sendable {
  /// The context of the question; nil where the case does not say.
  public struct Given: Sendable {
    public let host: Located<String>?
    public let user: Located<String>?
    /// Groups of the inventory.
    public let groups: [Located<String>]
    public let at: Located<PropertyListDate>?
    /// The application's domain.
    public let app: Located<String>?
  }

  /// One answer.
  public struct Expectation: Sendable {
    public enum Kind: String, Sendable, CaseIterable {
      /// Forced to this value.
      case forced
      /// Not forced.
      case notForced
      /// The effective value, forced or recommended.
      case value
    }

    public let kind: Kind
    public let domain: Located<String>
    public let key: Located<String>
    /// Nil for `notForced`.
    public internal(set) var value: PropertyListValue?
    /// Where the value (or, for `notForced`, the key) is written.
    public let position: SourcePosition
    var operand: NodeID?
  }

  /// Index of its file in ``PolicyTree/sources``.
  public let source: Int
  public let position: SourcePosition
  public let name: Located<String>
  public let given: Given
  public internal(set) var expectations: [Expectation]
  let tree: NodeTree
}
