import AuditLog
import CommandLineKit
import PropertyList

/// The audit log as one page that is read without anything else: the records as a table, the lines as they are, and a script
/// that takes the digests again. Without scripts the page is read all the same.
extension AuditExport {
  func page() -> [UInt8] {
    var page = Page()
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
    page.raw("<a class=\"skip\" href=\"#records\">To the records</a>\n<header>\n<h1>")
    page.text(title)
    page.raw("</h1>\n<p>")
    let sound = verdict == "sound"
    page.text("\(Count.text(records.count, "record")), \(records[0].sequence) to \(head.sequence); made ")
    page.raw("<time>")
    page.text(InstantText.rfc3339(made))
    page.raw("</time>. When it was made, <code>policyctl audit verify</code> said: <strong class=\"")
    page.raw(sound ? "good" : "bad")
    page.raw("\">")
    page.text(verdict)
    page.raw("</strong>.</p>\n</header>\n<main>\n")
    verifier(&page)
    table(&page)
    page.raw("<section aria-labelledby=\"raw-title\">\n<h2 id=\"raw-title\">The lines as they are</h2>\n")
    page.raw("<details>\n<summary>Show the lines</summary>\n<pre id=\"lines\" tabindex=\"0\">\n")
    for record in records {
      page.text(String(decoding: record.line, as: UTF8.self))
      page.raw("\n")
    }
    page.raw("</pre>\n</details>\n</section>\n</main>\n<footer><p>")
    page.text("\(head)")
    page.raw("</p></footer>\n<script>\n\(AuditPageParts.script)</script>\n</body>\n</html>\n")
    return page.bytes
  }

  private func verifier(_ page: inout Page) {
    page.raw("<section aria-labelledby=\"check-title\">\n<h2 id=\"check-title\">Is this what was written?</h2>\n")
    page.raw(
      "<p id=\"verdict\" role=\"status\">This page can take the digests of all lines again; it needs scripts for that. "
    )
    page.raw("Without: <code>policyctl audit verify</code> on the host.</p>\n")
    page.raw("<p><label for=\"head\">A line of <code>policyctl audit head</code> that was kept elsewhere</label><br>\n")
    page.raw(
      "<input id=\"head\" type=\"text\" spellcheck=\"false\" autocomplete=\"off\" placeholder=\"audit-head host=… seq=… sha256=…\"></p>\n"
    )
    page.raw(
      "<p class=\"faint\">The chain shows that no line was changed, dropped or moved. Whoever was root on the host ")
    page.raw("could have written all of it anew: only a line that was kept elsewhere tells of that. ")
    page.raw("Parts about persons stand beside the chain and are not checked here.</p>\n</section>\n")
  }

  private func table(_ page: inout Page) {
    page.raw("<section id=\"records\" aria-labelledby=\"records-title\">\n<h2 id=\"records-title\">Records</h2>\n")
    page.raw(
      "<p class=\"scripted\" hidden><label for=\"filter\">Show only lines with</label> <input id=\"filter\" type=\"search\"></p>\n"
    )
    page.raw(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"records-title\">\n<table>\n<thead><tr>")
    for name in ["Number", "Time (UTC)", "Kind", "Who", "What"] { page.raw("<th scope=\"col\">\(name)</th>") }
    page.raw("</tr></thead>\n<tbody>\n")
    for record in records {
      page.raw("<tr><th scope=\"row\">\(record.sequence)</th><td>")
      page.text(record.timeText)
      page.raw("</td><td>")
      page.text(record.kind)
      page.raw("</td><td>")
      page.text(Self.who(record))
      page.raw("</td><td>")
      page.text(Self.what(record))
      page.raw("</td></tr>\n")
    }
    page.raw("</tbody>\n</table>\n</div>\n</section>\n")
  }

  /// The user's number, with the program; `claimed` where only the process said so.
  private static func who(_ record: StoredRecord) -> String {
    if record.personal == .erased { return "erased" }
    guard let user = record.userID else { return "—" }
    let executable = (record.attested ?? record.claimed)?["executable"]?.stringValue
    let text = "uid \(user)" + (executable.map { ", " + TerminalText.escape($0) } ?? "")
    return record.attested == nil ? text + " (claimed)" : text
  }

  private static func what(_ record: StoredRecord) -> String {
    record.fields.keys.sorted().map { "\(TerminalText.escape($0)): \(record.fields[$0]!.displayText)" }
      .joined(separator: "; ")
  }

  private struct Page {
    var bytes: [UInt8] = []

    mutating func raw(_ text: String) { bytes += Array(text.utf8) }

    /// Text in which nothing is markup.
    mutating func text(_ text: String) {
      for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "&"): raw("&amp;")
        case UInt8(ascii: "<"): raw("&lt;")
        case UInt8(ascii: ">"): raw("&gt;")
        case UInt8(ascii: "\""): raw("&quot;")
        case UInt8(ascii: "'"): raw("&#39;")
        default: bytes.append(byte)
        }
      }
    }
  }
}
