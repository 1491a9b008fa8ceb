import AuditLog
import CommandLineKit
import LinuxFiles
import PropertyList

/// The audit log as one page that is read without anything else: the records as a table, the lines and the personal parts as
/// they are, and a script that takes the digests again, holds everything that is read to the lines and the personal parts, and
/// puts the table that they make in the place of the one that came. Without scripts the page is read all the same.
///
/// The script and what the host said when the page was made are covered by no digest.
extension AuditExport {
  func page(into output: OutputPieces) throws(AuditLogError) {
    let page = Page(output)
    let title = "Audit log of \(head.host ?? "a host")"
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
    // Nothing is fetched and nothing is sent, whatever stands in the records.
    page.raw(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    )
    page.raw("<title>")
    page.text(title)
    page.raw("</title>\n<style>\n\(AuditPageParts.style)</style>\n</head>\n<body>\n")
    page.raw("<a class=\"skip\" href=\"#records\">To the records</a>\n<header>\n<h1 id=\"title\">")
    page.text(title)
    page.raw("</h1>\n<p><span id=\"extent\">")
    page.text("\(Count.text(count, "record")), \(AuditPageText.list(ranges))")
    page.raw("</span>; made <time>")
    page.text(InstantText.rfc3339(made))
    page.raw("</time>. When it was made, <code>policyctl audit verify</code> said: <strong class=\"")
    page.raw(verdict == "sound" ? "good" : "bad")
    page.raw("\">")
    page.text(verdict)
    page.raw("</strong>.</p>\n")
    if !notes.isEmpty {
      page.raw("<ul>\n")
      for note in notes {
        page.raw("<li>")
        page.text(TerminalText.escape(note))
        page.raw("</li>\n")
      }
      page.raw("</ul>\n")
    }
    page.raw("</header>\n<main>\n")
    verifier(page)
    try table(page)
    try raw(page, "raw", "The lines as they are", "lines") { $0.line }
    if withPersonal { try raw(page, "parts", "The personal parts as they are", "personal") { $0.personalPart } }
    page.raw("</main>\n<footer><p id=\"end\">")
    page.text("\(head)")
    page.raw("</p></footer>\n<script>\n\(AuditPageParts.script)</script>\n</body>\n</html>\n")
  }

  private func verifier(_ page: Page) {
    page.raw("<section aria-labelledby=\"check-title\">\n<h2 id=\"check-title\">Is this what was written?</h2>\n")
    page.raw(
      "<p id=\"verdict\" role=\"status\">This page can take the digests of all lines again; it needs scripts for that, "
    )
    page.raw("and only they hold the table to the lines. ")
    page.raw("Without: <code>policyctl audit verify</code> on the host.</p>\n")
    page.raw("<p><label for=\"head\">A line of <code>policyctl audit head</code> that was kept elsewhere</label><br>\n")
    page.raw(
      "<input id=\"head\" type=\"text\" spellcheck=\"false\" autocomplete=\"off\" placeholder=\"audit-head host=… seq=… sha256=…\"></p>\n"
    )
    page.raw(
      "<p class=\"faint\">The chain shows that no line was changed, dropped or moved, and the table is held to the lines. "
    )
    page.raw("What the host said when the page was made is covered by no digest. Whoever was root on the host ")
    page.raw(
      "could have written all of it anew, and whoever had this page its script: only a line that was kept elsewhere tells of that. "
    )
    page.raw(
      withPersonal
        ? "Parts about persons stand beside the chain; each is held against the digest in its line.</p>\n</section>\n"
        : "Parts about persons stand beside the chain, and were left out of this page.</p>\n</section>\n")
  }

  private func table(_ page: Page) throws(AuditLogError) {
    page.raw("<section id=\"records\" aria-labelledby=\"records-title\">\n<h2 id=\"records-title\">Records</h2>\n")
    page.raw(
      "<p class=\"scripted\" hidden><label for=\"filter\">Show only lines with</label> <input id=\"filter\" type=\"search\"></p>\n"
    )
    page.raw(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"records-title\">\n<table>\n<thead><tr id=\"columns\">"
    )
    for name in ["Number", "Time (UTC)", "Kind", "Who", "What"] { page.raw("<th scope=\"col\">\(name)</th>") }
    page.raw("</tr></thead>\n<tbody id=\"rows\">\n")
    try forEachRecord { record in
      page.raw("<tr><th scope=\"row\">\(record.sequence)</th><td>")
      page.text(record.timeText)
      page.raw("</td><td>")
      page.text(record.kind)
      page.raw("</td><td>")
      page.text(who(record))
      page.raw("</td><td>")
      page.text(AuditPageText.members(record.fields).joined(separator: "; "))
      page.raw("</td></tr>\n")
    }
    page.raw("</tbody>\n</table>\n</div>\n</section>\n")
  }

  private func raw(
    _ page: Page, _ section: String, _ title: String, _ id: String, _ line: (StoredRecord) -> [UInt8]?
  ) throws(AuditLogError) {
    page.raw("<section aria-labelledby=\"\(section)-title\">\n<h2 id=\"\(section)-title\">\(title)</h2>\n")
    page.raw("<details>\n<summary>Show them</summary>\n<pre id=\"\(id)\" tabindex=\"0\">\n")
    try forEachRecord { record in
      guard let bytes = line(record) else { return }
      page.text(String(decoding: bytes, as: UTF8.self))
      page.raw("\n")
    }
    page.raw("</pre>\n</details>\n</section>\n")
  }

  /// The user's number, with the program, and on whose word: the kernel's, unless something else is said.
  private func who(_ record: StoredRecord) -> String {
    if record.personal == .erased { return withPersonal ? "erased" : "left out" }
    guard let user = record.userID else { return "—" }
    let executable = (record.attested ?? record.claimed)?["executable"]?.stringValue
    let text = "uid \(user)" + (executable.map { ", " + TerminalText.escape($0) } ?? "")
    if record.attested != nil { return text }
    guard let unattested = record.unattested else { return text + " (claimed)" }
    return text + " (unattested: found in this user's spool"
      + (unattested["origin"] == nil ? ")" : ", of an unknown host)")
  }

  private final class Page {
    private let output: OutputPieces

    init(_ output: OutputPieces) { self.output = output }

    func raw(_ text: String) { output.add(text) }

    /// Text in which nothing is markup.
    func text(_ text: String) {
      var bytes: [UInt8] = []
      for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "&"): bytes += Array("&amp;".utf8)
        case UInt8(ascii: "<"): bytes += Array("&lt;".utf8)
        case UInt8(ascii: ">"): bytes += Array("&gt;".utf8)
        case UInt8(ascii: "\""): bytes += Array("&quot;".utf8)
        case UInt8(ascii: "'"): bytes += Array("&#39;".utf8)
        default: bytes.append(byte)
        }
      }
      output.add(bytes)
    }
  }
}

/// The words of the page that its script has to find as well: simple enough to be made twice.
enum AuditPageText {
  /// `1 to 15, 18 and 20 to 22`.
  static func list(_ ranges: [ClosedRange<UInt64>]) -> String {
    let words = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
    guard words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " and " + words[words.count - 1]
  }

  /// `name: value`, by name.
  static func members(_ members: [String: PropertyListValue]) -> [String] {
    members.keys.sorted().map { "\(TerminalText.escape($0)): \(text(members[$0]!))" }
  }

  /// A text without quotes, a number as the line has it.
  private static func text(_ value: PropertyListValue) -> String {
    switch value {
    case .string(let text): return TerminalText.escape(text)
    case .array(let elements): return "[" + elements.map(text).joined(separator: ", ") + "]"
    case .dictionary(let inner): return "{" + self.members(inner).joined(separator: ", ") + "}"
    default:
      var json = JSONWriter(pretty: false)
      json.value(value)
      return String(decoding: json.bytes, as: UTF8.self)
    }
  }
}
