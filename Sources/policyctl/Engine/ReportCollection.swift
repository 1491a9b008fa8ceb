import CommandLineKit
import ComplianceReport
import HostPatterns
import LinuxFiles
import PolicyCompiler
import PolicyLanguage

/// The reports of a fleet in a folder, and the hosts that are expected to be there.
enum ReportCollection {
  /// A larger file is no report: some 100,000 controls with their findings have room.
  private static let maximumByteCount = 256 << 20
  /// Names of one inventory; more are not listed one by one.
  private static let maximumHosts = 1_000_000

  /// Joins the reports in the folder of `--collect`.
  static func fleet(_ call: Invocation, in directory: String) throws(CommandFailure) -> FleetReport {
    for flag in ["--user", "--all-users", "--host", "--group", "--at", "--policies", "--bundle"]
    where call.arguments.has(flag) || call.arguments.value(flag) != nil || !call.arguments.values(flag).isEmpty {
      throw call.usage(.excludedFlags(verb: "report", "--collect", flag))
    }
    let expected = try call.arguments.value("--expect").map { path throws(CommandFailure) in
      try self.expected(path)
    }
    let names: [String]
    do throws(FileError) { names = try Directory.names(in: directory) } catch {
      throw CommandFailure(error, while: .reading)
    }
    let reports = names.filter { $0.utf8.suffix(5).elementsEqual(".json".utf8) }
    if reports.isEmpty {
      throw CommandFailure(
        .noInput, "\(TerminalText.escape(directory)) has no reports (*.json)",
        next: call.command(privileged: true, "report", "--format", "json", "-o", "HOST.json"))
    }
    for name in names where !reports.contains(name) {
      Policyctl.note("\(FilePath.join(directory, name)) is passed over: it is no .json file")
    }
    var progress = ProgressLine("Reading reports")
    let files = reports.lazy.map { name in file(name, in: directory) }
    return FleetReport(
      files, expecting: expected, made: WallClock.unixSeconds(),
      isHostName: { (try? HostName.validate($0)) != nil }, progress: { progress.update($0, of: reports.count) })
  }

  private static func file(_ name: String, in directory: String) -> CollectedFile {
    do throws(FileError) {
      let bytes = try WholeFile.read(FilePath.join(directory, name), limit: maximumByteCount, followingLinks: false)
        .bytes
      return CollectedFile(name: name, contents: .bytes(bytes))
    } catch {
      let why: String =
        switch error.errno {
        case .tooManySymbolicLinks: "is a symbolic link, which is not followed"
        case .fileTooLarge: "is larger than \(maximumByteCount >> 20) MiB"
        default: error.found.map { "is \($0), not a file" } ?? "\(error.errno)"
        }
      return CollectedFile(name: name, contents: .unreadable(why))
    }
  }

  /// The hosts of an inventory: a file with one, or a folder of policies that has one.
  private static func expected(_ path: String) throws(CommandFailure) -> ExpectedHosts {
    let tree: PolicyTree
    do throws(FileError) {
      if try FileMetadata.of(path).isDirectory {
        tree = try PolicyTreeLoader.load(directory: path)
      } else {
        tree = PolicyTreeLoader.load(sources: [(path: path, bytes: try WholeFile.read(path).bytes)])
      }
    } catch {
      throw CommandFailure(error, while: .reading)
    }
    if tree.diagnostics.contains(where: { $0.severity == .error }) {
      StandardStreams.writeError(
        DiagnosticRenderer(sources: tree.sources, isColored: Terminal.palette(for: .errors).isEnabled)
          .render(tree.diagnostics))
      throw CommandFailure(
        .badInput, "\(TerminalText.escape(path)) has mistakes, so it does not say which hosts there are")
    }
    guard let inventory = tree.inventory else {
      throw CommandFailure(.badInput, "\(TerminalText.escape(path)) has no document of the kind Inventory")
    }
    return expected(inventory)
  }

  private static func expected(_ inventory: Inventory) -> ExpectedHosts {
    var names: [String] = []
    var seen: Set<String> = []
    var doubled: [String] = []
    var open: [String] = []
    var patterns: [HostPattern] = []
    for group in inventory.hostGroups {
      var ofGroup: Set<String> = []
      for text in group.names.map(\.value) {
        guard let pattern = try? HostPattern(parsing: text) else { continue }
        patterns.append(pattern)
        guard let listed = pattern.expandedNames(limit: maximumHosts) else {
          if !open.contains(pattern.text) { open.append(pattern.text) }
          continue
        }
        for name in listed {
          if !ofGroup.insert(name).inserted, !doubled.contains(name) { doubled.append(name) }
          if seen.insert(name).inserted { names.append(name) }
        }
      }
    }
    // Names are looked up; only what names no hosts one by one is matched pattern by pattern.
    let known = seen
    let others = patterns.filter { $0.expandedNames(limit: maximumHosts) == nil }
    return ExpectedHosts(names: names, openPatterns: open, doubled: doubled) { host in
      known.contains(host) || known.contains(String(host.prefix { $0 != "." }))
        || others.contains { $0.matches(hostName: host) }
    }
  }
}
