import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore

/// `containers`: which applications of the user have a container, and what is in it.
enum ContainersVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "containers", summary: "List the containers of applications: size, grants, what was redirected and when.",
      flags: [CommonFlags.account, CommonFlags.format],
      notes: [
        "containers show ID    each redirected domain beside the real one",
        "containers reset ID   give the application an empty container",
        "containers remove ID  put its preferences back where they were before",
      ],
      example: "policyctl containers")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let site = try ContainerSite(call)
    let view = ContainersView(try site.surveys().map { ($0, site.grants[$0.identifier]) })
    if call.wantsJSON {
      try Output.print(view.json())
    } else if view.rows.isEmpty {
      Policyctl.note("no application of \(site.userName) has a container")
    } else {
      try Output.print(view.text(Terminal.palette(for: .output), now: WallClock.unixSeconds()))
    }
    return .done
  }
}

/// `containers show ID`: what was redirected, beside what it would have been.
enum ContainersShowVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "containers", "show", summary: "Show each domain that was redirected into a container beside the real one.",
      operands: [Operand("ID", .application)], flags: [CommonFlags.account, CommonFlags.format],
      notes: ["Of another user's container, and of keys that a manifest calls secret, names only."],
      example: "policyctl containers show org.example.Editor")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let site = try ContainerSite(call)
    let survey = try site.survey(call.arguments.operands[0])
    var domains: [ContainerContentsView.Domain] = []
    var code = ExitCode.done
    if let fault = survey.fault {
      Policyctl.note("\(fault)")
      code = .inputOutput
    }
    for redirected in survey.redirected {
      do throws(PreferencesFault) {
        domains.append(site.domain(redirected, try survey.differences(ofDomain: redirected.domain)))
      } catch {
        Policyctl.note("\(error)")
        code = .inputOutput
      }
    }
    let view = ContainerContentsView(
      identifier: survey.identifier, directory: survey.directory, showsValues: site.isOwn, domains: domains)
    if call.wantsJSON {
      try Output.print(view.json())
    } else {
      try Output.print(view.text(Terminal.palette(for: .output), now: WallClock.unixSeconds()))
    }
    return code
  }
}

/// `containers reset ID`: an empty container, after a question.
enum ContainersResetVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "containers", "reset", summary: "Give an application an empty container; what was in it is lost.",
      operands: [Operand("ID", .application)], flags: [Flag("--yes", "do not ask")],
      notes: ["What the application had before it was contained is not copied a second time."],
      example: "policyctl containers reset org.example.Editor")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let site = try ContainerSite(call)
    let survey = try site.survey(call.arguments.operands[0])
    guard try Loss(survey, "will be lost").isAccepted(call) else { return .no }
    do throws(FileError) { try ContainerPreparation.reset(survey.identifier, in: site.locations) } catch {
      throw Loss.failure(error, survey, call)
    }
    try Output.printDone("The container of \(TerminalText.escape(survey.identifier)) is empty.\n")
    return .done
  }
}

/// `containers remove ID`: the application's preferences where they were before, and no container any more.
enum ContainersRemoveVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "containers", "remove",
      summary: "Put an application's preferences back where they were, and remove its container.",
      operands: [Operand("ID", .application)], flags: [Flag("--yes", "do not ask")],
      notes: ["For an application that no policy contains any more.", "All else in the container is lost."],
      example: "policyctl containers remove org.example.Editor")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let site = try ContainerSite(call)
    let survey = try site.survey(call.arguments.operands[0])
    let name = TerminalText.escape(survey.identifier)
    if let grants = site.grants[survey.identifier] {
      throw CommandFailure(
        .notPermitted,
        "\(name) is contained by \(grants.profiles.map { TerminalText.escape($0) }.joined(separator: ", ")), and would get a "
          + "new container at its next start",
        next: "\(Policyctl.name) containers reset \(ShellWord.quote(survey.identifier))")
    }
    guard try Loss(survey, "but its own preferences will be lost").isAccepted(call) else { return .no }
    do throws(FileError) { try ContainerPreparation.remove(survey.identifier, in: site.locations) } catch {
      throw Loss.failure(error, survey, call)
    }
    try Output.printDone(
      "The preferences of \(name) are in \(TerminalText.escape(site.locations.configurationDirectory)) again; its container is "
        + "removed.\n")
    return .done
  }
}

/// The question before something of a container goes.
private struct Loss {
  let survey: ContainerSurvey
  let what: String

  init(_ survey: ContainerSurvey, _ what: String) {
    self.survey = survey
    self.what = what
  }

  /// Whether to go on: `--yes`, or the application's name typed at a terminal.
  func isAccepted(_ call: Invocation) throws(CommandFailure) -> Bool {
    if call.arguments.has("--yes") { return true }
    var size = "\(ByteCount.files(survey.fileCount)), \(ByteCount.text(survey.byteCount))"
    if survey.documentCount > 0 {
      size += "; \(survey.documentCount == 1 ? "one is" : "\(survey.documentCount) are") no settings, documents maybe"
    }
    let all = "everything in \(TerminalText.escape(survey.directory)) \(what) (\(size))"
    guard StandardStreams.isInputTerminal else { throw CommandFailure(.usage, all, next: call.again(adding: "--yes")) }
    Policyctl.note(all)
    StandardStreams.writeError("Type \(TerminalText.escape(survey.identifier)) to go on: ")
    if readLine() == survey.identifier { return true }
    Policyctl.note("nothing was changed")
    return false
  }

  static func failure(_ error: FileError, _ survey: ContainerSurvey, _ call: Invocation) -> CommandFailure {
    if error.errno == .timedOut {
      return CommandFailure(
        .unavailable,
        "a program runs in the container of \(TerminalText.escape(survey.identifier)); nothing was changed. End it first"
      )
    }
    return CommandFailure(error, while: .writing)
  }
}
