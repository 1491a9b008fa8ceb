import AuditEvents
import AuditLog
import CommandSandbox
import LinuxFiles
import PropertyList
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
    const parts = { verdict: element(""), head: element(process.argv[3] || ""), filter: element("") };
    for (const [id, start, tag] of [["lines", '<pre id="lines" tabindex="0">\\n', "</pre>"],
      ["personal", '<pre id="personal" tabindex="0">\\n', "</pre>"], ["end", '<p id="end">', "</p>"],
      ["extent", '<span id="extent">', "</span>"], ["title", '<h1 id="title">', "</h1>"],
      ["columns", '<tr id="columns">', "</tr>"], ["rows", '<tbody id="rows">', "</tbody>"]])
      if (page.includes(start)) parts[id] = { textContent: plain(cut(start, tag)),
        innerHTML: cut(start, tag).replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/\\u00a0/g, "&nbsp;") };
    globalThis.document = { title: plain(cut("<title>", "</title>")), getElementById: id => parts[id],
      querySelectorAll: () => [] };
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

  /// A sandbox with personal records, its page, and what the page says of itself with something changed.
  private func exported(
    _ prepare: (Sandbox) throws -> Void
  ) throws -> (page: String, digest: String, verdict: (String) throws -> String) {
    let sandbox = try Sandbox(applied: true)
    try prepare(sandbox)
    try sandbox.write(Self.shim, to: "shim.js")
    #expect(sandbox.run("audit", "export", "--format", "html", "-o", "out.html").exitCode == 0)
    let head = sandbox.run("audit", "head").output
    let digest = try #require(head.split(separator: " ").first { $0.hasPrefix("sha256=") }).dropFirst(7)
    return (
      try sandbox.read("out.html"), String(digest),
      { page in
        try sandbox.write(page, to: "page.html")
        return sandbox.execute(["node", "shim.js", "page.html"]).output
      }
    )
  }

  /// Whatever is changed of what an auditor reads, the page says so.
  @Test func whatIsReadIsWhatWasChecked() throws {
    let name = "Ä & <b> \u{a0}\"'\\ \u{202e}\u{7}"
    let (page, digest, verdict) = try exported { sandbox in
      try sandbox.auditLog.append([
        AuditExportTests.event(name, 1000), AuditExportTests.event("Beta", 1001, spool: true, old: name != "Alpha"),
        .own(
          .identityUnknown, fields: ["names": .array([.string("x"), .string("y")]), "accepted": .boolean(true)]),
      ])
    }
    #expect(try verdict(page) == "good: Records 1 to 6 are one unbroken chain; the last digest is \(digest).\n")
    let row = try #require(page.split(separator: "\n").first { $0.contains("<th scope=\"row\">4</th>") })
    for (old, new) in [
      ("uid 1000, /usr/bin/editor", "uid 1002, /usr/bin/editor"), ("forced.write", "forced.writ"),
      ("key: Ä", "key: A"), ("<th scope=\"row\">4<", "<th scope=\"row\">7<"), ("<tr>", "<tr hidden>"),
    ] {
      #expect(row.contains(old), "\(row)")
      let changed = page.replacing(row, with: row.replacing(old, with: new))
      #expect(try verdict(changed) == "bad: The table was changed in its row 4: it now shows what the lines say.\n")
    }
    #expect(
      try verdict(page.replacing(row + "\n", with: ""))
        == "bad: The table was changed in its row 4: it now shows what the lines say.\n")
    let title = "bad: The page has another title than its lines: Audit log of lab-a-03.\n"
    #expect(try verdict(page.replacing("<title>Audit log of lab-a-03", with: "<title>Audit log of lab-a-04")) == title)
    #expect(try verdict(page.replacing("\">Audit log of lab-a-03", with: "\">Audit log of lab-a-04")) == title)
    #expect(
      try verdict(page.replacing("6 records, 1 to 6<", with: "7 records, 1 to 7<"))
        == "bad: The page prints other records than it has: the lines are 6 records, 1 to 6.\n")
    #expect(
      try verdict(page.replacing(">Who<", with: ">Not<")) == "bad: The names of the table's columns were changed.\n")
    // The last line: nothing after it has its digest but the end that the page prints.
    let start = try #require(page.firstRange(of: "<pre id=\"lines\"")).lowerBound
    let end = "bad: The page ends with another line than it prints as its end: the lines say audit-head "
    let changed = page[..<start] + page[start...].replacing("identity.unknown", with: "identity.known")
    #expect(try verdict(String(changed)).hasPrefix(end))
    let lines = page[start...].split(separator: "\n").filter { $0.hasPrefix("{&quot;seq&quot;:6,") }
    let cut = page[..<start] + page[start...].replacing(try #require(lines.first) + "\n", with: "")
    #expect(try verdict(String(cut)).hasPrefix(end))
    for word in [" host=lab-a-03 log=", " seq=6 ", "sha256=\(digest)", " time=20"] {
      #expect(try verdict(page.replacing(word, with: word.dropLast() + "x")).hasPrefix(end), "\(word)")
    }
    // A part that nothing asks for.
    let part = try #require(page.split(separator: "\n").first { $0.contains("seq&quot;:4") && $0.contains("salt") })
    #expect(
      try verdict(page.replacing(part, with: part + "\n" + part))
        == "bad: There is a personal part that belongs to no record.\n")
  }

  /// The newest records are cut off, an alarm tells of it, and somebody acknowledges it.
  @Test func whatWasLostIsNotPartOfTheChain() throws {
    let (page, digest, verdict) = try exported { sandbox in
      try sandbox.auditLog.append([AuditExportTests.event("Alpha", 1000), AuditExportTests.event("Beta", 1001)])
      let segment = AuditTests.log(sandbox) + "/audit-000000000001.jsonl"
      let lines = try sandbox.read(segment).split(separator: "\n").prefix(3)
      try AtomicReplacement.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: segment, mode: 0o640)
      #expect(try sandbox.auditLog.acknowledge(reason: "a disk was exchanged"))
      #expect(sandbox.run("audit", "verify").exitCode == 0)
    }
    #expect(
      try verdict(page)
        == "good: Records 1 to 3 and 6 to 7 are an unbroken chain but for what was lost: 4 to 5 lost, acknowledged in record 7; the last digest is \(digest).\n"
    )
    #expect(page.contains("<span id=\"extent\">5 records, 1 to 3 and 6 to 7</span>"))
    #expect(
      page.contains(
        "<li>record 6: an alarm that was acknowledged: the log lost its newest records: expected 5 records, found 3</li>"
      ))
  }

  /// What a checkpoint does not vouch for is missing.
  @Test func theBeginningNeedsACheckpoint() throws {
    let (page, _, verdict) = try exported { sandbox in
      try sandbox.auditLog.rotate()
      #expect(sandbox.run("audit", "prune", "--keep", "1").exitCode == 0)
    }
    #expect(
      try verdict(page).hasPrefix(
        "good: Records 4 to 5 are one unbroken chain, complete from record 4 on, as a checkpoint tells; "))
    #expect(
      try verdict(page.replacing("audit.checkpoint&quot;", with: "audit.checkpoinu&quot;"))
        == "bad: Records 1 to 3 are missing, and no checkpoint vouches for them.\n")
  }
}
