import CommandSandbox
import LinuxFiles
import Testing

/// The commands of Documentation/defaults.md, run as they are typed, and what the page shows below them.
@Suite struct DocumentationTests {
  static let packageRoot = FilePath.parent(of: FilePath.parent(of: FilePath.parent(of: #filePath)))

  @Test func thePageDoesWhatItSays() throws {
    let sandbox = try Sandbox(policy: "forced: {org.example.Editor: {AutoSaveInterval: 30}}\n")
    let commands = try sandbox.commands()
    let page = try sandbox.read(Self.packageRoot + "/Documentation/defaults.md")
    var lines = page.split(separator: "\n", omittingEmptySubsequences: false)[...]
    var ran = 0
    while let start = lines.firstIndex(of: "```console") {
      let end = try #require(lines[(start + 1)...].firstIndex(of: "```"))
      var block = lines[(start + 1)..<end]
      lines = lines[(end + 1)...]
      while let line = block.popFirst() {
        guard line.hasPrefix("$ ") else { continue }
        let shown = block.prefix { !$0.hasPrefix("$ ") }
        block = block.dropFirst(shown.count)
        var status: Int32 = 0
        if block.first == "$ echo $?" {
          block = block.dropFirst()
          status = try #require(block.popFirst().flatMap { Int32($0) })
        }
        let result = sandbox.execute(
          ["sh", "-c", String(line.dropFirst(2))], environment: ["PATH": commands + ":/usr/bin:/bin"])
        #expect(result.exitCode == status, "\(line)\n\(result.errors)")
        #expect(result.output == shown.map { $0 + "\n" }.joined(), "\(line)")
        ran += 1
      }
    }
    #expect(ran >= 12)
    let refused = sandbox.defaults("write", "org.example.Editor", "AutoSaveInterval", "-int", "60")
    #expect(page.contains("```\n" + refused.errors.split(separator: "\n")[0] + "\n"))
  }

  /// The page names every flag and type that the command knows.
  @Test func thePageNamesEveryFlag() throws {
    let sandbox = try Sandbox()
    let page = try sandbox.read(Self.packageRoot + "/Documentation/defaults.md")
    for verb in UsageTests.verbs {
      let help = sandbox.bare(verb, "--help").output
      for word in help.split(whereSeparator: { " \n,:;|()[]'".contains($0) })
      where word.hasPrefix("-") && word.count > 2 && word.dropFirst().first != "3" {
        #expect(page.contains("`\(word)") || page.contains(" \(word)") || page.contains("[\(word)"), "\(word)")
      }
    }
  }
}
