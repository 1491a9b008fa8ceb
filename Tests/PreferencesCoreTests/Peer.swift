import LinuxFiles
import PreferencesCore
import TestPrograms

/// `PreferencesPeer` as a process, spoken to by lines.
enum Peer {
  /// Built beside the tests.
  static let program = FilePath.join(
    FilePath.parent(of: ProcessIdentity.executablePath() ?? ""), "PreferencesPeer")

  static func start(_ verb: String, _ fixture: Fixture, _ arguments: String...) throws -> StartedProgram {
    try start([program, verb, fixture.directory] + arguments)
  }

  static func start(_ words: [String]) throws -> StartedProgram {
    try StartedProgram(words, input: .typed, output: .read)
  }
}
