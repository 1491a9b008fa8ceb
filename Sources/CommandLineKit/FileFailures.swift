public import LinuxFiles

extension CommandFailure {
  /// What the command was doing when the system refused.
  public enum Purpose: Sendable { case reading, creating, writing }

  /// A system error as an exit code, with the words of the system.
  public init(_ error: FileError, while purpose: Purpose, next: String...) {
    self.init(error, while: purpose, next: next)
  }

  public init(_ error: FileError, while purpose: Purpose, next: [String]) {
    let code: ExitCode =
      switch error.errno {
      case .permissionDenied, .notPermitted: .notPermitted
      case .noSuchFile where purpose == .reading, .notDirectory where purpose == .reading,
        _ where purpose == .reading && error.found != nil:
        .noInput
      case _ where purpose == .creating: .cannotCreate
      default: .inputOutput
      }
    self.init(code, TerminalText.escape(error.description), next: next)
  }
}
