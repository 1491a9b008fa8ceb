import AuditLog
import CommandSandbox
import LinuxFiles
import Testing

/// The examples of `--help` and of Documentation/for-administrators.md, run as they are typed.
///
/// They name no root, so they are led to one by `MANAGED_PREFERENCES_ROOT`, which counts only where nothing is installed
/// system-wide.
@Suite(.enabled(if: SystemInstallation.isAbsent)) struct DocumentationTests {
  static let packageRoot = FilePath.parent(of: FilePath.parent(of: FilePath.parent(of: #filePath)))

  /// A folder of commands: ours, and a `sudo` that only runs what it is given.
  static func commands(in sandbox: Sandbox) throws -> String {
    let folder = sandbox.path + "/bin"
    try sandbox.writeProgram("exec '\(Sandbox.binary)' \"$@\"", to: folder + "/policyctl")
    try sandbox.writeProgram("exec \"$@\"", to: folder + "/sudo")
    return folder
  }

  static func shell(_ command: String, in sandbox: Sandbox, commands: String) -> Sandbox.Result {
    var localised = replace("/etc/managed-preferences", with: sandbox.root + "/etc/managed-preferences", in: command)
    localised = replace(" /var/log/", with: " \(sandbox.root)/var/log/", in: localised)
    localised = replace("tar -C / ", with: "tar -C \(sandbox.root) ", in: localised)
    return sandbox.execute(
      ["/bin/sh", "-c", localised],
      environment: ["PATH": commands + ":/usr/bin:/bin", "MANAGED_PREFERENCES_ROOT": sandbox.root])
  }

  static func replace(_ old: String, with new: String, in text: String) -> String {
    var rest = Substring(text)
    var result = ""
    while let range = rest.firstRange(of: old) {
      result += rest[..<range.lowerBound] + new
      rest = rest[range.upperBound...]
    }
    return result + rest
  }

  @Test func everyExampleOfHelpWorksAsTyped() throws {
    let sandbox = try Sandbox(applied: true)
    let commands = try Self.commands(in: sandbox)
    try sandbox.write(
      sandbox.read(sandbox.root + "/etc/managed-preferences/policies/example.yaml"), to: "policies/example.yaml")
    // In an order in which each finds what it needs.
    for verb in [
      "init", "enroll", "check", "test", "schema", "compile", "install", "apply", "refresh", "get", "explain", "status",
      "generations", "report", "key list", "key generate", "key trust", "audit show", "audit verify",
      "audit head", "audit export", "audit prune", "audit erase", "audit acknowledge", "audit set-aside",
      "uninstall",
    ] + (ContainedRuns.isAvailable ? ["run"] : []) {
      let help = sandbox.runBare(verb.split(separator: " ").map(String.init) + ["--help"])
      let example = try #require(help.output.split(separator: "\n").last).drop { $0 == " " }
      let result = Self.shell(String(example), in: sandbox, commands: commands)
      #expect(result.exitCode == 0, "\(example): \(result.errors)")
    }
  }

  @Test func theGuideForAdministratorsDoesWhatItSays() throws {
    let sandbox = try Sandbox()
    let guide = try sandbox.read(Self.packageRoot + "/Documentation/for-administrators.md")
    let (ran, compared) = try Self.run(guide, in: sandbox)
    #expect(ran >= 25)
    #expect(compared >= 3)
  }

  /// The procedure for a log that does not verify, on one that was edited behind a head that was kept.
  @Test func theProcedureForALogThatDoesNotVerifyDoesWhatItSays() throws {
    let sandbox = try Sandbox(applied: true)
    let log = AuditTests.log(sandbox)
    try sandbox.write(sandbox.run("audit", "head").output, to: "heads.txt")
    try sandbox.auditLog.append([AuditExportTests.event("Alpha", 1000)])
    let segment = log + "/audit-000000000001.jsonl"
    let edited = Self.replace("host.enrolled", with: "host.enrollec", in: try sandbox.read(segment))
    try AtomicReplacement.write(Array(edited.utf8), to: segment, mode: 0o640)

    let page = try sandbox.read(Self.packageRoot + "/Documentation/audit-log.md")
    let start = try #require(page.firstRange(of: "\n## When a log does not verify\n")).upperBound
    let end = page[start...].firstRange(of: "\n## ")?.lowerBound ?? page.endIndex
    let (ran, _) = try Self.run(String(page[start..<end]), in: sandbox)
    #expect(ran >= 11)
    #expect(sandbox.run("audit", "verify").exitCode == 0)
    #expect(sandbox.run("status").exitCode == 0)
    // What was set aside is what was there, and so is the copy.
    for folder in [log + "/aside-000000000004", sandbox.work + "/copy/var/log/managed-preferences"] {
      #expect(try sandbox.read(folder + "/audit-000000000001.jsonl") == edited)
    }
    #expect(try sandbox.read("heads.txt").split(separator: "\n").count == 2)
  }

  /// Runs a page's commands as they are typed, and holds what they print to what it shows.
  /// - Returns: how many ran, and of how many something is shown.
  static func run(_ page: String, in sandbox: Sandbox) throws -> (ran: Int, compared: Int) {
    let commands = try Self.commands(in: sandbox)
    var ran = 0
    var compared = 0
    for block in blocks(of: page) {
      if block.language == "yaml" {
        // The first line names the file: `# policies/exam.yaml`.
        let name = try #require(block.lines.first?.dropFirst(2))
        try sandbox.write(block.lines.map { $0 + "\n" }.joined(), to: String(name))
      }
      guard block.language == "console" else { continue }
      var index = 0
      while index < block.lines.count {
        let line = block.lines[index]
        index += 1
        guard line.hasPrefix("$ ") else { continue }
        var expected: Int32 = 0
        if index + 1 < block.lines.count, block.lines[index] == "$ echo $?" {
          expected = try #require(Int32(block.lines[index + 1]))
          index += 2
        }
        let result = Self.shell(String(line.dropFirst(2)), in: sandbox, commands: commands)
        #expect(result.exitCode == expected, "\(line)\n\(result.output)\(result.errors)")
        ran += 1
        // What the page shows below a command is what it prints; `…` stands for the rest.
        var shown: [String] = []
        while index < block.lines.count, !block.lines[index].hasPrefix("$ ") {
          shown.append(block.lines[index])
          index += 1
        }
        guard !shown.isEmpty else { continue }
        compared += 1
        var printed = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
        if shown.last == "…" {
          shown.removeLast()
          printed = printed.prefix(shown.count)
        }
        #expect(printed.map(Self.withoutMoments) == shown.map(Self.withoutMoments), "\(line)")
      }
    }
    return (ran, compared)
  }

  /// A line with its dates, times and serial numbers replaced by words.
  private static func withoutMoments(_ line: String) -> String {
    line.replacing(/\d{4}-\d{2}-\d{2}/, with: "DATE").replacing(/\d{2}:\d{2}/, with: "TIME")
      .replacing(/\d{10,}/, with: "SERIAL")
  }

  private static func blocks(of text: String) -> [(language: String, lines: [String])] {
    var blocks: [(language: String, lines: [String])] = []
    var isInside = false
    var indentation = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      // In a list a block stands further in.
      let line = line.dropFirst(isInside ? min(indentation, line.prefix { $0 == " " }.count) : 0)
      let fence = line.drop { $0 == " " }
      if fence.hasPrefix("```") {
        if !isInside { indentation = line.count - fence.count }
        if !isInside { blocks.append((String(fence.dropFirst(3)), [])) }
        isInside.toggle()
      } else if isInside {
        blocks[blocks.count - 1].lines.append(String(line))
      }
    }
    return blocks
  }

  @Test func theDocumentedUnitsAreThoseThatRefreshInstalls() throws {
    let sandbox = try Sandbox(applied: true)
    let names = ["managed-preferences-refresh.service", "managed-preferences-refresh.timer"]
    let first = sandbox.run("refresh", "--install-timer")
    #expect(first.exitCode == 0, "\(first.errors)")
    #expect(first.output.hasPrefix("Created \(sandbox.root)/etc/systemd/system/\(names[0]).\n"))
    let again = sandbox.run("refresh", "--install-timer")
    #expect(again.output.hasPrefix("Unchanged: \(sandbox.root)/etc/systemd/system/\(names[0])\n"))
    for name in names {
      var installed = try sandbox.read(sandbox.root + "/etc/systemd/system/" + name)
      // A unit below a root names that root, and is allowed to see it.
      installed = Self.replace(" --root \(sandbox.root)", with: "", in: installed)
      installed = Self.replace(sandbox.root, with: "", in: installed)
      installed = Self.replace(Sandbox.binary, with: "/usr/bin/policyctl", in: installed)
      installed = Self.replace("ProtectHome=yes\n", with: "", in: installed)
      var documented = try sandbox.read(Self.packageRoot + "/Documentation/systemd/" + name)
      documented = Self.replace("ProtectHome=yes\nPrivateTmp=yes\n", with: "", in: documented)
      #expect(installed == documented)
    }
  }
}

/// Whether examples without a root can be led to one.
enum SystemInstallation {
  static let isAbsent: Bool = {
    let isInstalled = (try? FileMetadata.of("/var/lib/managed-preferences/generation", followingLinks: false)) != nil
    if isInstalled { print("SKIPPED: this machine has a system-wide installation, so examples can't run as typed") }
    return !isInstalled
  }()
}
