internal import LinuxFiles

/// Mistakes of the program that no return value could tell it about. They stop it, in release builds too, with a message
/// that names the key: where the reference raises `NSInvalidArgumentException`.
enum Misuse {
  static func stop(_ message: String) -> Never {
    fatalError(TerminalText.escape("ManagedDefaults: \(message)"))
  }

  static func refuse(emptyKey key: String, by member: String) {
    if key.isEmpty { stop("\(member): the key \"\" is empty") }
  }
}
