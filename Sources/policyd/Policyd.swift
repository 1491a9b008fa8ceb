import AuditEvents
import AuditLog
import CommandLineKit
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList

/// `policyd`: the agent of an installation.
enum Policyd {
  static let name = "policyd"
  static let version = "0.1"

  static let verb = Verb(
    summary: "Bring what programs report into the audit log, and follow windows of time, names and sources.",
    flags: [
      Flag("--root", value: "DIR", .directory, "work below DIR instead of /"),
      Flag("--heartbeat", value: "SECONDS", .number, "record a sign of life that often (default: 300, at least 1)"),
      Flag(
        "--look", value: "SECONDS", .number, "look at names, sources and spools that often (default: 300, at least 1)"),
      Flag("--help", short: "-h", "tell what this does"),
      Flag("--version", "tell the version"),
    ],
    notes: [
      "It serves at /run/managed-preferences/policyd.sock, or at the socket that systemd hands over.",
      "SIGTERM: what has come is written, then it ends. SIGHUP: it looks at everything now.",
    ],
    example: "sudo policyd --heartbeat 60")

  static func run(_ words: @autoclosure () throws(CommandFailure) -> [String]) -> ExitCode {
    do throws(CommandFailure) {
      let words = try words()
      let arguments: ParsedArguments
      do throws(UsageError) {
        arguments = try ArgumentParser.parse(words, verb: verb, shared: [])
      } catch {
        throw CommandFailure(error, command: name)
      }
      if arguments.has("--help") {
        try Output.print(HelpText.text(for: verb, command: name, shared: []))
        return .done
      }
      if arguments.has("--version") {
        try Output.print("\(name) \(version)\n")
        return .done
      }
      return try serve(arguments)
    } catch {
      StandardStreams.writeError(error.text(command: name))
      return error.exitCode
    }
  }

  /// A line for whoever reads the service's messages.
  @Sendable static func report(_ line: String) {
    StandardStreams.writeErrorLine("\(name): \(line)")
  }

  private static func serve(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
    let intervals = try intervals(arguments)
    let installation = Installation.found(root: arguments.value("--root"))
    if installation.root.isEmpty, ProcessIdentity.effectiveUserID != 0 {
      throw CommandFailure(.notPermitted, "the agent of this host needs root", next: "sudo \(name)")
    }
    let load = ForcedDomainLoader(installation).load()
    if case .notInstalled = load {
      let root = installation.root.isEmpty ? [] : ["--root", installation.root]
      throw CommandFailure(
        .noInput, "nothing is installed here: \(TerminalText.escape(installation.generationMarker)) is missing",
        next: ShellWord.join((root.isEmpty ? ["sudo"] : []) + ["policyctl"] + root + ["init"]))
    }
    // Before there is another thread, which would get the signals.
    let signals = try needed { () throws(Errno) in try ServiceSignals() }
    let mailbox = try needed { () throws(Errno) in try Mailbox() }
    var limits = AgentLimits()
    // Some are for files of ours; the rest is for programs.
    limits.allConnections = max(8, min(limits.allConnections, ProcessLimits.allowAllOpenFiles() - 64))
    limits.reservedConnections = min(limits.reservedConnections, limits.allConnections / 4)
    let listener = try listener(of: installation)
    let store = AuditLogStore(installation, report: report)
    let marker = (try? ForcedDomainLoader(installation).marker()) ?? nil
    var fields = HostFacts(marker).fields
    fields["version"] = .string(version)
    // Made before the edges are looked for, and written behind them.
    let started = AgentRecord(.agentStarted, fields)
    let late = try lateEdges(of: installation, load, in: store.place)
    for line in late.untold { report(line) }
    let watch = try needed { () throws(Errno) in
      try HostWatch(
        installation, mailbox: mailbox, store: store, intervals: intervals, edgesToldThrough: late.through,
        report: report)
    }
    do throws(EventStoreError) { try store.append(late.records + [started]) } catch {
      throw CommandFailure(.inputOutput, "the audit log can't be written: \(TerminalText.escape(error.description))")
    }
    mailbox.beat(at: WallClock.unixSeconds(), HostFacts(marker).generation)
    try needed { () throws(Errno) in if !watch.start() { throw Errno.current } }
    let agent = Agent(
      listener: listener, signals: signals, mailbox: mailbox, store: store, limits: limits, report: report)
    ServiceManager.notify("READY=1")
    agent.run { watch.lookAnew() }
    return .done
  }

  private static func lateEdges(
    of installation: Installation, _ load: ForcedDomainLoad, in place: AuditLogPlace
  ) throws(CommandFailure) -> LateEdges {
    var file: ForcedDomain?
    if case .loaded(let loaded, _) = load { file = loaded }
    do throws(AuditLogError) {
      return try LateEdges(of: installation, file: file, in: place, now: WallClock.unixSeconds())
    } catch {
      throw CommandFailure(.inputOutput, "the audit log can't be read: \(TerminalText.escape(error.description))")
    }
  }

  private static func intervals(_ arguments: ParsedArguments) throws(CommandFailure) -> HostWatch.Intervals {
    var intervals = HostWatch.Intervals()
    func seconds(_ flag: String) throws(CommandFailure) -> Int64? {
      guard let seconds = arguments.number(flag) else { return nil }
      if seconds == 0 { throw CommandFailure(.usage, "\(flag) is at least 1 second, not 0", next: "\(name) --help") }
      return Int64(clamping: seconds)
    }
    intervals.heartbeat = try seconds("--heartbeat") ?? intervals.heartbeat
    intervals.look = try seconds("--look") ?? intervals.look
    return intervals
  }

  /// What the system gives to every service but one that it has no room for.
  private static func needed<T: ~Copyable>(_ body: () throws(Errno) -> T) throws(CommandFailure) -> T {
    do throws(Errno) { return try body() } catch {
      throw CommandFailure(.unavailable, "the system has no descriptor or thread left: \(error)")
    }
  }

  /// The socket that was handed over, or one of our own.
  private static func listener(of installation: Installation) throws(CommandFailure) -> ListeningSocket {
    let descriptors = ServiceManager.handedOver()
    if let first = descriptors.first {
      guard descriptors.count == 1, let listener = ListeningSocket(handedOver: first) else {
        throw CommandFailure(
          .usage, "what was handed over is not one listening socket of SOCK_SEQPACKET",
          next: "systemctl cat policyd.socket")
      }
      return listener
    }
    do throws(FileError) {
      try Directory.createAll(installation.runDirectory, mode: 0o755)
      return try ListeningSocket.listen(at: installation.agentSocket, mode: 0o666)
    } catch {
      if error.errno == .addressInUse {
        throw CommandFailure(
          .unavailable, "another agent serves at \(TerminalText.escape(installation.agentSocket))")
      }
      throw CommandFailure(error, while: .creating)
    }
  }
}
