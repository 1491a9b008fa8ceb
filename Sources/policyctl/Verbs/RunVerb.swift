import CProcesses
import CommandLineKit
import ForcedDomain
import Glibc
import LinuxFiles
import PreferencesCore

/// `run --app ID COMMAND`: a program that sees its own preferences and what its policy shares with it, nothing else.
enum RunVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "run", summary: "Run a program in the container of an application.",
      operands: [Operand("COMMAND", .file), Operand("ARG", .text, optional: true, takesRest: true)],
      flags: [
        Flag("--app", value: "ID", .application, "the application's domain"),
        Flag("--files", value: "PATH", .file, repeats: true, "share a file or folder with it, to read and write"),
        Flag("--network", "let it use the network"),
      ],
      notes: [
        "It has a home of its own, and sees of others' preferences what a policy shares.",
        "Ends with its exit code; 128 and the signal's number for one that a signal ended.",
      ],
      example: "policyctl run --app org.example.Editor -- printenv HOME")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    // What the caller left open leads outside, by whatever name.
    process_close_at_exec(3)
    guard let identifier = call.arguments.value("--app") else {
      throw call.usage(.neededFlag(verb: verb.name, flag: "--app", placeholder: "ID"))
    }
    try refuseOutright(call, identifier)
    let installation = try self.installation(call)
    let policy = try self.policy(installation, call)
    let grants =
      policy.flatMap { $0.grants(for: identifier, under: $0.truth(in: .current())) }
      ?? ApplicationGrants(identifier: identifier)
    let user = try ContainedUser()
    let places = PreferencePlaces(user, installation: installation)
    try StandardStreamCheck.run(places)
    let shared = try SharedFiles(
      granted: grants.files, asked: call.arguments.values("--files"), user: user, places: places)
    let command = try ContainedCommand(call.arguments.operands, user: user, shared: shared, places: places)
    let program = try Bubblewrap.find()
    let folders = try ContainerFolders(grants, user, installation)
    let mirror = try ReadMirror(grants, user, installation)
    let container = EnclosingContainer(
      identifier: identifier, groups: grants.groups, read: grants.read, homeDirectory: user.home,
      root: installation.root.isEmpty ? "" : ContainerView.rootDirectory)

    let isNetworked = call.arguments.has("--network")
    let sockets = SessionSockets(user)
    var view = ContainerView()
    view.addNamespaces(network: isNetworked)
    view.addSystem(network: isNetworked)
    view.addInstallation(installation)
    try view.addSession(user, sockets)
    try view.addPreferences(container, groups: folders.groups, reads: mirror.directory)
    view.addDescriptor(folders.home.descriptor, "--bind-fd", user.home)
    view.addShared(shared.files, user: user)
    if let (file, place) = command.file { view.addDescriptor(file.descriptor, "--ro-bind-fd", place) }
    try view.close()
    view.add("--chdir", directory(user, shared))

    let ends: (read: Int32, write: Int32)
    do throws(Errno) { ends = try Pipe.open() } catch {
      throw CommandFailure(.inputOutput, "cannot make a pipe: \(error)")
    }
    view.addStatus(ends.write)
    let options = try ContainerView.memoryFile(view.words.flatMap { Array($0.utf8) + [0] })
    var variables = sockets.variables
    variables["HOME"] = user.home
    variables["XDG_RUNTIME_DIR"] = user.insideRuntimeDirectory
    // Without a bus GNOME's settings would be forgotten with the program; so they are a file of the container.
    variables["GSETTINGS_BACKEND"] = "keyfile"
    if !container.root.isEmpty { variables[Installation.rootVariable] = container.root }
    let launch = Supervisor.Launch(
      program: program, arguments: [Bubblewrap.name, "--args", String(options), "--"] + command.words,
      environment: ContainedEnvironment.variables(adding: variables), descriptors: view.descriptors + [options],
      home: folders.home,
      inHome: shared.files.filter { PathText.contains(user.realHome, $0.path) }
        .map { ($0, PathText.below(user.realHome, $0.path)) })
    if grants.profiles.isEmpty { warnOfUnnamed(identifier, policy?.containedApplications ?? []) }
    let supervisor = try Supervisor(launch, mirror: mirror, status: ends)
    // Not one of our exit codes; and nothing of ours is left to be written.
    let code = try supervisor.wait()
    extendLifetime(folders)
    _exit(code)
  }

  private static func refuseOutright(_ call: Invocation, _ identifier: String) throws(CommandFailure) {
    if let fault = DomainName.fault(in: identifier) {
      throw CommandFailure(.usage, "'\(TerminalText.escape(identifier))' is no domain: \(fault)")
    }
    if identifier == GlobalDomain.name {
      throw CommandFailure(.usage, "\(GlobalDomain.name) is every application's; a container is one's")
    }
    if let around = EnclosingContainer.current {
      throw CommandFailure(
        .notPermitted,
        "this is already the container of \(TerminalText.escape(around.identifier)), and there is none within one")
    }
    if call.arguments.has("--network"), let bus = SessionBus.abstractSocket {
      throw CommandFailure(
        .unavailable,
        "with --network a bus would be in reach: \(TerminalText.escape(bus)) is an abstract socket, which no path hides"
      )
    }
  }

  /// The installation whose policy holds inside. No root leads a user away from the one that binds.
  private static func installation(_ call: Invocation) throws(CommandFailure) -> Installation {
    let found = call.installation()
    guard !found.root.isEmpty else { return found }
    let system = Installation(root: "")
    if call.root != nil, ProcessIdentity.realUserID != 0,
      system.hasTraces() || (try? FileMetadata.of(system.generationMarker, followingLinks: false)) != nil
    {
      throw CommandFailure(
        .notPermitted,
        "managed preferences are installed on this system, and only root runs a program under those of another root",
        next: ShellWord.join([Policyctl.name] + verb.path + call.wordsWithoutRoot))
    }
    guard let real = SymbolicLink.resolved(found.root) else {
      throw CommandFailure(.noInput, "\(TerminalText.escape(found.root)) is not there")
    }
    return Installation(root: real)
  }

  /// The policy in force; nil where nothing is installed.
  private static func policy(
    _ installation: Installation, _ call: Invocation
  ) throws(CommandFailure) -> ForcedDomain? {
    switch ForcedDomainLoader(installation).load() {
    case .notInstalled: return nil
    case .loaded(let domain, let faults):
      for fault in faults {
        Policyctl.warn(fault.description)
      }
      return domain
    case .unavailable(let faults):
      throw CommandFailure(
        .unavailable,
        "the policy in force can't be read, so nothing is known of what is shared: "
          + faults.map { TerminalText.escape($0.description) }.joined(separator: "; "),
        next: call.command("status"))
    }
  }

  /// A name that no policy knows may be meant so, or be a slip: the program is contained with nothing shared, and that is said.
  private static func warnOfUnnamed(_ identifier: String, _ known: [String]) {
    let nearest = Suggestion.nearest(to: identifier, among: known).first
    let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
    Policyctl.warn("no policy in force contains \(identifier), so nothing is shared with it\(hint)")
  }

  /// Where the program begins: where the command was typed, if that is to be seen, else at home.
  private static func directory(_ user: ContainedUser, _ shared: SharedFiles) -> String {
    let here = WorkingDirectory.path
    if ContainerView.shows(here) { return here }
    guard shared.contains(here) else { return user.home }
    return PathText.contains(user.realHome, here)
      ? FilePath.join(user.home, PathText.below(user.realHome, here)) : here
  }
}
