import LinuxFiles

/// Why a command stopped, as data: the exit code, what happened, and what to do next.
///
/// The text form is two parts, both for standard error: `COMMAND: message` and, where there is a next step,
/// `Next: …` with a command that can be typed as it stands. Everything in it is escaped there (`TerminalText`), so that no
/// failure has to think of the words of others that it repeats.
public struct CommandFailure: Error, Hashable, Sendable {
  public var exitCode: ExitCode
  /// What happened, with the place first where there is one; no trailing full stop.
  public var message: String
  /// What else is said of it, a line each, which begins with the command's name as well.
  public var further: [String] = []
  /// What to do: one line each, usually a command as it is to be typed.
  public var next: [String]
  /// The verb that the message is about, where that matters (usage errors).
  public var verb: String?

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

  /// A usage error as the failure that it is.
  ///
  /// - Parameter command: the command whose `--help` tells more.
  public init(_ error: UsageError, command: String) {
    exitCode = .usage
    message = error.message
    next = [error.verb.map { "\(command) \($0) --help" } ?? "\(command) --help"]
    verb = error.verb
  }

  /// The whole text for standard error, with a final new line.
  ///
  /// - Parameter command: the name that the message begins with, for example `policyctl`.
  public func text(command: String) -> String {
    let name = verb.map { "\(command) \($0)" } ?? command
    let said = (message.isEmpty ? [] : [message]) + further
    return (said.map { "\(name): \($0)" } + next.map { "Next: \($0)" }).map { TerminalText.escape($0) + "\n" }.joined()
  }
}
