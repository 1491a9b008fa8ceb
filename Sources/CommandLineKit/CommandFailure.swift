/// Why a command stopped, as data: the exit code, what happened, and what to do next.
///
/// The text form is two parts, both for standard error: `COMMAND: message` and, where there is a next step,
/// `Next: …` with a command that can be typed as it stands.
public struct CommandFailure: Error, Hashable, Sendable {
  public var exitCode: ExitCode
  /// What happened, with the place first where there is one; no trailing full stop.
  public var message: String
  /// What to do: one line each, usually a command as it is to be typed.
  public var next: [String]

  public init(_ exitCode: ExitCode, _ message: String, next: String...) {
    self.exitCode = exitCode
    self.message = message
    self.next = next
  }

  public init(_ exitCode: ExitCode, _ message: String, next: [String]) {
    self.exitCode = exitCode
    self.message = message
    self.next = next
  }

  /// The whole text for standard error, with a final new line.
  ///
  /// - Parameter command: the name that the message begins with, for example `policyctl`.
  public func text(command: String) -> String {
    var text = message.isEmpty ? "" : "\(command): \(message)\n"
    for line in next { text += "Next: \(line)\n" }
    return text
  }
}
