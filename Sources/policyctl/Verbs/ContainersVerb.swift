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
        "containers show ID   each redirected domain beside the real one",
        "containers reset ID  give the application an empty container",
      ],
      example: "policyctl containers")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    if let word = call.arguments.operands.first {
      throw call.usage(.unknownVerb("containers \(word)", suggestions: ["containers show", "containers reset"]))
    }
    let site = try ContainerSite(call)
    let view = ContainersView(try site.surveys().map { ($0, site.grants[$0.identifier]) })
    if call.wantsJSON {
      try Output.print(view.json())
    } else if view.rows.isEmpty {
      StandardStreams.writeError("\(Policyctl.name): no application of \(site.userName) has a container\n")
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
    for redirected in survey.redirected {
      do throws(PreferencesFault) {
        domains.append(site.domain(redirected, try survey.differences(ofDomain: redirected.domain)))
      } catch {
        StandardStreams.writeError("\(Policyctl.name): \(TerminalText.escape("\(error)"))\n")
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
    let name = TerminalText.escape(survey.identifier)
    let size = "\(ByteCount.files(survey.fileCount)), \(ByteCount.text(survey.byteCount))"
    if !call.arguments.has("--yes") {
      guard StandardStreams.isInputTerminal else {
        throw CommandFailure(
          .usage, "all of \(TerminalText.escape(survey.directory)) would be lost (\(size))",
          next: call.again(adding: "--yes"))
      }
      StandardStreams.writeError("Everything in \(TerminalText.escape(survey.directory)) will be lost (\(size)).\n")
      StandardStreams.writeError("Type \(name) to go on: ")
      guard readLine() == survey.identifier else {
        StandardStreams.writeError("\(Policyctl.name): nothing was changed\n")
        return .no
      }
    }
    do throws(FileError) { try ContainerPreparation.reset(survey.identifier, in: site.locations) } catch {
      if error.errno == .timedOut {
        throw CommandFailure(
          .unavailable, "a program runs in the container of \(name); nothing was changed", next: call.again())
      }
      throw CommandFailure(error, while: .writing)
    }
    try Output.print("The container of \(name) is empty.\n")
    return .done
  }
}
