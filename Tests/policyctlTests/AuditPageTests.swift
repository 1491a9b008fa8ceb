import AuditLog
import CommandSandbox
import LinuxFiles
import Testing

/// Whether JavaScript can be run here.
enum ScriptEngine {
  static let isThere: Bool = {
    let found = ["/usr/bin/node", "/usr/local/bin/node"].contains { (try? FileMetadata.of($0)) != nil }
    if !found { print("SKIPPED: there is no node here, so the script of the exported page is not run") }
    return found
  }()
}

/// The exported page's own verifier, run by a JavaScript engine where there is one.
@Suite(.enabled(if: ScriptEngine.isThere)) struct AuditPageTests {
  /// As much of a browser as the script asks for.
  static let shim = """
    const page = require("fs").readFileSync(process.argv[2], "utf8");
    const cut = (a, b) => page.slice(page.indexOf(a) + a.length, page.indexOf(b, page.indexOf(a)));
    const plain = text => text.replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&lt;/g, "<")
      .replace(/&gt;/g, ">").replace(/&amp;/g, "&");
    const element = value => ({ value: value, textContent: "", parentNode: {}, addEventListener() {} });
    const parts = { verdict: element(""), head: element(process.argv[3] || ""), filter: element(""),
      lines: { textContent: plain(cut('<pre id="lines" tabindex="0">\\n', "</pre>")) } };
    if (page.includes('<pre id="personal"'))
      parts.personal = { textContent: plain(cut('<pre id="personal" tabindex="0">\\n', "</pre>")) };
    globalThis.document = { getElementById: id => parts[id], querySelectorAll: () => [] };
    eval(cut("<script>", "</script>"));
    console.log(parts.verdict.className + ": " + parts.verdict.textContent);
    """

  @Test func thePageVerifiesItself() throws {
    let sandbox = try Sandbox(applied: true)
    try Directory.create(sandbox.work + "/<b>&\"'ä\n")
    sandbox.run("apply", "<b>&\"'ä\n")
    sandbox.run("audit", "export", "--format", "html", "-o", "page.html")
    try sandbox.write(Self.shim, to: "shim.js")
    func run(_ file: String, _ head: String = "") -> String {
      sandbox.execute(["node", "shim.js", file, head]).output
    }
    let head = sandbox.run("audit", "head").output
    let digest = try #require(head.split(separator: " ").first { $0.hasPrefix("sha256=") }).dropFirst(7)
    let count = try AuditTests.kinds(sandbox).count
    #expect(
      run("page.html") == "good: Records 1 to \(count) are one unbroken chain; the last digest is \(digest).\n")
    #expect(
      run("page.html", head)
        == "good: Records 1 to \(count) are one unbroken chain, and the line that was kept fits.\n")
    let wrong = head.replacing(digest, with: String(repeating: "0", count: 64))
    #expect(run("page.html", wrong) == "bad: Record \(count) is not the one that the line has which was kept.\n")
    let page = try sandbox.read("page.html")
    let start = try #require(page.firstRange(of: "<pre")).lowerBound
    let changed = page[..<start] + page[start...].replacing("host.enrolled", with: "host.enrollec")
    try sandbox.write(String(changed), to: "changed.html")
    #expect(
      run("changed.html") == "bad: Record 2 was changed: its digest is not the one that record 3 has.\n")
  }

  @Test func thePageVerifiesPersonalParts() throws {
    let sandbox = try Sandbox(applied: true)
    let log = sandbox.auditLog
    try log.append([AuditExportTests.event("Alpha", 1000), AuditExportTests.event("Beta", 1001)])
    try sandbox.write(Self.shim, to: "shim.js")
    func verdict(_ page: String) throws -> String {
      try sandbox.write(page, to: "page.html")
      return sandbox.execute(["node", "shim.js", "page.html"]).output
    }
    func export(_ flags: String...) throws -> String {
      #expect(
        sandbox.execute(
          [Sandbox.binary, "--root", sandbox.root, "audit", "export", "--format", "html", "-o", "out.html"] + flags
        ).exitCode == 0)
      return try sandbox.read("out.html")
    }
    let whole = try export()
    #expect(try verdict(whole).hasPrefix("good: Records 1 to 5 are one unbroken chain; the last digest is "))
    let start = try #require(whole.firstRange(of: "<pre id=\"personal\"")).lowerBound
    let changed = whole[..<start] + whole[start...].replacing("Alpha", with: "Omega")
    #expect(
      try verdict(String(changed))
        == "bad: The personal part of record 4 was changed or taken away, and no record tells of an erasure.\n")
    #expect(
      try verdict(export("--without-personal")).hasPrefix("good: Records 1 to 5 are one unbroken chain, without the"))
    #expect(try log.erase(reason: "a request") { $0 == 1000 } == 1)
    #expect(try verdict(export()).hasPrefix("good: Records 1 to 6 are one unbroken chain; "))
  }
}
