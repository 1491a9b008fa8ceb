internal import LinuxFiles

/// Mistakes in the declaration of a preferences class. They stop the program at the first use of the class, in release
/// builds too, with a message that names the class, the properties and the key.
enum PreferencesMisuse {
  static func stop(_ message: String) -> Never { fatalError(TerminalText.escape("Preferences: \(message)")) }
}
