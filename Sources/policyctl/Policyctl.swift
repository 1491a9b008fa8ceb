import CommandLineKit
import LinuxFiles

/// One verb: its table, and what it does. Each stands in a file of its own.
protocol VerbProgram {
  static var verb: Verb { get }
  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode
}

/// The way from the words of the command line to a verb, and from its outcome to an exit code.
enum Policyctl {
  static let name = "policyctl"
  static let version = "0.1"

  /// Runs one command line, and says on standard error why it failed.
  static func run(_ words: @autoclosure () throws(CommandFailure) -> [String]) -> ExitCode {
    do throws(CommandFailure) {
      let words = try words()
      if let code = try PlainGet.run(words) { return code }
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

  /// What is wrong although the command goes on.
  static func warn(_ text: String, next: [String] = []) { note("warning: \(text)", next: next) }

  private static func dispatch(_ words: [String]) throws(CommandFailure) -> ExitCode {
    var leading: [String] = []
    var index = 0
    // Flags that every verb takes may stand before it.
    while index < words.count, words[index].utf8.first == UInt8(ascii: "-") {
      let word = words[index]
      index += 1
      switch word {
      case "--help", "-h":
        leading.append("--help")
      case "--version":
        try Output.print("\(name) \(version)\n")
        return .done
      case "--root":
        leading.append(word)
        if index < words.count {
          leading.append(words[index])
          index += 1
        } else {
          throw CommandFailure(.missingValue(verb: "", flag: "--root", placeholder: "DIR"), command: name)
        }
      case _ where word.utf8.starts(with: "--root=".utf8):
        leading.append(word)
      default:
        throw CommandFailure(
          .unknownFlag(
            verb: "", flag: word,
            suggestions: Suggestion.nearest(to: word, among: ["--root", "--help", "--version"])), command: name)
      }
    }
    guard index < words.count else {
      if leading.contains("--help") {
        try Output.print(HelpText.text(for: Overview.command))
        return .done
      }
      throw CommandFailure(.missingVerb, command: name)
    }
    var path = [words[index]]
    var rest = Array(words[(index + 1)...])
    if path[0] == "help" {
      guard let asked = rest.first else {
        try Output.print(HelpText.text(for: Overview.command))
        return .done
      }
      path = [asked]
      rest = Array(rest.dropFirst()) + ["--help"]
    }
    if path[0] == "key" {
      guard let next = rest.first, next != "--help", next != "-h" else {
        if rest.isEmpty {
          throw CommandFailure(.missingOperand(verb: "key", name: "generate, trust or list"), command: name)
        }
        try Output.print(HelpText.text(for: Overview.keys))
        return .done
      }
      path.append(next)
      rest.removeFirst()
    }
    if path[0] == "audit" {
      guard let next = rest.first, next != "--help", next != "-h" else {
        if rest.isEmpty {
          throw CommandFailure(
            .missingOperand(verb: "audit", name: Overview.audit.verbNames.joined(separator: ", ")), command: name)
        }
        try Output.print(HelpText.text(for: Overview.audit))
        return .done
      }
      path.append(next)
      rest.removeFirst()
    }
    if path[0] == "containers", let next = rest.first, ["show", "reset", "remove"].contains(next) {
      path.append(next)
      rest.removeFirst()
    }
    return try run(path, words: leading + rest)
  }

  private static func run(_ path: [String], words: [String]) throws(CommandFailure) -> ExitCode {
    guard let program = program(path) else {
      let group = path[0] == "audit" ? Overview.audit : Overview.keys
      let known = path.count == 1 ? Overview.command.verbNames : group.verbNames.map { "\(path[0]) \($0)" }
      let typed = path.joined(separator: " ")
      throw CommandFailure(
        .unknownVerb(typed, suggestions: Suggestion.nearest(to: typed, among: known)), command: name)
    }
    let verb = program.verb
    let arguments: ParsedArguments
    do {
      arguments = try ArgumentParser.parse(words, verb: verb, shared: CommonFlags.everywhere)
    } catch {
      throw CommandFailure(error, command: name)
    }
    if arguments.has("--help") {
      try Output.print(HelpText.text(for: verb, command: name, shared: CommonFlags.everywhere))
      return .done
    }
    return try program.run(Invocation(verb: verb, words: words, arguments: arguments))
  }

  /// The program of a verb; tables of other verbs are not touched.
  private static func program(_ path: [String]) -> (any VerbProgram.Type)? {
    switch path {
    case ["get"]: GetVerb.self
    case ["explain"]: ExplainVerb.self
    case ["status"]: StatusVerb.self
    case ["check"]: CheckVerb.self
    case ["compile"]: CompileVerb.self
    case ["test"]: TestVerb.self
    case ["init"]: InitVerb.self
    case ["enroll"]: EnrollVerb.self
    case ["apply"]: ApplyVerb.self
    case ["install"]: InstallVerb.self
    case ["refresh"]: RefreshVerb.self
    case ["generations"]: GenerationsVerb.self
    case ["key", "generate"]: KeyGenerateVerb.self
    case ["key", "trust"]: KeyTrustVerb.self
    case ["key", "list"]: KeyListVerb.self
    case ["schema"]: SchemaVerb.self
    case ["containers"]: ContainersVerb.self
    case ["containers", "show"]: ContainersShowVerb.self
    case ["containers", "reset"]: ContainersResetVerb.self
    case ["containers", "remove"]: ContainersRemoveVerb.self
    case ["report"]: ReportVerb.self
    case ["uninstall"]: UninstallVerb.self
    case ["run"]: RunVerb.self
    case ["audit", "show"]: AuditShowVerb.self
    case ["audit", "verify"]: AuditVerifyVerb.self
    case ["audit", "head"]: AuditHeadVerb.self
    case ["audit", "export"]: AuditExportVerb.self
    case ["audit", "acknowledge"]: AuditAcknowledgeVerb.self
    case ["audit", "set-aside"]: AuditSetAsideVerb.self
    case ["audit", "prune"]: AuditPruneVerb.self
    case ["audit", "erase"]: AuditEraseVerb.self
    default: nil
    }
  }
}
