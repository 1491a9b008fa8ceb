import CommandLineKit
import LinuxFiles

/// One verb: its table, and what it does. Each stands in a file of its own.
protocol VerbProgram {
  static var verb: Verb { get }
  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode
}

/// The way from the words of the command line to a verb, and from its outcome to an exit code.
enum Defaults {
  static let name = "defaults"
  static let version = "0.1"

  /// Runs one command line, and says on standard error why it failed.
  static func run(_ words: @autoclosure () throws(CommandFailure) -> [String]) -> ExitCode {
    do throws(CommandFailure) {
      let words = try words()
      if let code = try PlainRead.run(words) { return code }
      return try dispatch(words)
    } catch {
      StandardStreams.writeError(error.text(command: name))
      return error.exitCode
    }
  }

  /// A sentence beside the answer, on standard error.
  static func note(_ text: String, next: [String] = []) {
    StandardStreams.writeErrorLine("\(name): \(text)")
    for line in next { StandardStreams.writeErrorLine("Next: \(line)") }
  }

  private static func dispatch(_ words: [String]) throws(CommandFailure) -> ExitCode {
    var leading: [String] = []
    var index = 0
    // What says where to look may stand before the verb, as on macOS.
    while index < words.count, words[index].utf8.first == UInt8(ascii: "-") {
      let word = words[index]
      index += 1
      if word == "--version" {
        try Output.print("\(name) \(version)\n")
        return .done
      }
      let spelled = String(word.prefix { $0 != "=" })
      guard let flag = Flags.everywhere.first(where: { $0.name == spelled || $0.short == spelled }) else {
        let known = Flags.everywhere.map(\.name) + ["--version"]
        throw CommandFailure(
          .unknownFlag(verb: "", flag: word, suggestions: Suggestion.nearest(to: word, among: known)), command: name)
      }
      leading.append(word)
      guard let placeholder = flag.placeholder, spelled == word else { continue }
      guard index < words.count else {
        throw CommandFailure(.missingValue(verb: "", flag: flag.name, placeholder: placeholder), command: name)
      }
      leading.append(words[index])
      index += 1
    }
    guard index < words.count else {
      if leading.contains("--help") || leading.contains("-h") { return try printOverview() }
      throw CommandFailure(.missingVerb, command: name)
    }
    var verb = words[index]
    var rest = Array(words[(index + 1)...])
    if verb == "help" {
      guard let asked = rest.first else { return try printOverview() }
      verb = asked
      rest = ["--help"]
    }
    guard let program = program(verb) else {
      throw CommandFailure(
        .unknownVerb(
          verb,
          suggestions: Overview.synonyms[verb].map { [$0] }
            ?? Suggestion.nearest(to: verb, among: Overview.command.verbNames)),
        command: name)
    }
    let call = try Invocation(program.verb, leading: leading, words: rest)
    if call.arguments.has("--help") {
      try Output.print(HelpText.text(for: program.verb, command: name, shared: []))
      return .done
    }
    return try program.run(call)
  }

  private static func printOverview() throws(CommandFailure) -> ExitCode {
    try Output.print(HelpText.text(for: Overview.command))
    return .done
  }

  /// The program of a verb; tables of other verbs are not touched.
  private static func program(_ verb: String) -> (any VerbProgram.Type)? {
    switch verb {
    case "read": ReadVerb.self
    case "read-type": ReadTypeVerb.self
    case "write": WriteVerb.self
    case "rename": RenameVerb.self
    case "delete": DeleteVerb.self
    case "domains": DomainsVerb.self
    case "find": FindVerb.self
    case "import": ImportVerb.self
    case "export": ExportVerb.self
    default: nil
    }
  }
}
