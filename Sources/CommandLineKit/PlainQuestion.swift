/// A command line that is nothing but `[--root DIR] VERB DOMAIN KEY`: what scripts ask in loops. Recognised without the tables
/// of verbs and flags, since a launch costs what it touches.
public struct PlainQuestion {
  public let root: String?
  public let domain: String
  public let key: String

  /// - Returns: nil for every other command line, also where words are empty or could be flags.
  public init?(_ words: [String], verb: String) {
    let at = words.count == 5 && words[0] == "--root" ? 2 : 0
    guard words.count == at + 3, words[at] == verb else { return nil }
    root = at == 0 ? nil : words[1]
    domain = words[at + 1]
    key = words[at + 2]
    guard Self.isOperand(domain), Self.isOperand(key), root.map(Self.isOperand) ?? true else { return nil }
  }

  private static func isOperand(_ word: String) -> Bool { !word.isEmpty && word.utf8.first != UInt8(ascii: "-") }
}
