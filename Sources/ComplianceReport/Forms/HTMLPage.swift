/// The frame of every page: one file, without scripts and without anything that is loaded from elsewhere.
///
/// The policy in its head forbids both, so that a text which had got past the escape could still do nothing. Light and dark
/// follow the reader's system; on paper it is light. Colours have a contrast of at least 4.5 : 1, and no meaning that a word
/// does not have as well.
enum HTMLPage {
  /// - Parameters:
  ///   - title: plain text.
  ///   - body: markup for `<main>`, which begins with the heading.
  ///   - foot: plain text.
  static func page(title: String, body: String, foot: String) -> [UInt8] {
    Array(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>\(Markup.escape(title))</title>
      <style>
      \(style)
      </style>
      </head>
      <body>
      <a class="skip" href="#content">Skip to the report</a>
      <main id="content" tabindex="-1">
      \(body)</main>
      <footer><p>\(Markup.escape(foot))</p></footer>
      </body>
      </html>

      """.utf8)
  }

  static func section(_ id: String, _ heading: String, _ body: String, level: Int = 2) -> String {
    "<section aria-labelledby=\"\(id)\">\n<h\(level) id=\"\(id)\">\(Markup.escape(heading))</h\(level)>\n\(body)</section>\n"
  }

  /// A table in a box of its own that scrolls, by keyboard too, where the page is too narrow for it.
  ///
  /// - Parameters:
  ///   - caption: plain text; what the table shows.
  ///   - columns: plain text.
  ///   - numbers: which columns, counted from 0, are of numbers.
  ///   - rows: markup, `<tr>` and its cells.
  static func table(
    _ caption: String, columns: [String], numbers: Set<Int> = [], rows: String, class name: String = ""
  ) -> String {
    let heads = columns.enumerated().map { index, column in
      "<th scope=\"col\"\(numbers.contains(index) ? " class=\"number\"" : "")>\(Markup.escape(column))</th>"
    }.joined()
    let caption = Markup.escape(caption)
    return """
      <div class="scroll" role="region" aria-label="\(caption)" tabindex="0">
      <table\(name.isEmpty ? "" : " class=\"\(name)\"")>
      <caption><span>\(caption)</span></caption>
      <thead><tr>\(heads)</tr></thead>
      <tbody>
      \(rows)</tbody>
      </table>
      </div>

      """
  }

  /// The word of a result, coloured.
  static func badge(_ result: ControlResult) -> String { "<span class=\"r \(result.rawValue)\">\(result.word)</span>" }

  static func badge(_ verdict: Verdict) -> String {
    let name =
      switch verdict {
      case .pass: "pass"
      case .fail: "fail"
      case .error, .incomplete: "error"
      case .nothingChecked: "not-applicable"
      }
    return "<span class=\"r \(name)\">\(verdict.word)</span>"
  }

  /// A moment in RFC 3339, which is its own machine-readable form.
  static func moment(_ text: String) -> String { "<time>\(Markup.escape(text))</time>" }

  static func list(_ items: [String]) -> String {
    "<ul>\n" + items.map { "<li>\(Markup.escape($0))</li>\n" }.joined() + "</ul>\n"
  }

  /// `<dl>` of plain texts; long ones take the whole width.
  static func facts(_ facts: [(String, String)]) -> String {
    let items = facts.map { name, text in
      "<div\(text.utf8.count > 72 ? " class=\"wide\"" : "")><dt>\(Markup.escape(name))</dt><dd>\(Markup.escape(text))</dd></div>\n"
    }
    return "<dl>\n" + items.joined() + "</dl>\n"
  }

  private static let style = """
    :root {
      color-scheme: light dark;
      --paper: #ffffff; --ink: #1b1f24; --faint: #57606a; --line: #d0d7de; --band: #f6f8fa; --link: #0550ae;
      --good: #116329; --good-band: #e3f6e6; --bad: #a40e26; --bad-band: #ffebe9; --warn: #744500; --warn-band: #fff4d4;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #12161c; --ink: #e6edf3; --faint: #a3adb8; --line: #3a424c; --band: #1b2129; --link: #79b8ff;
        --good: #6fdd8b; --good-band: #12301c; --bad: #ff9a92; --bad-band: #3d1618; --warn: #f2c265; --warn-band: #362a0e;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
    main, footer { max-width: 78rem; margin: 0 auto; padding: 1rem 1.25rem; }
    main:focus { outline: none; }
    footer { color: var(--faint); font-size: .875rem; border-top: 1px solid var(--line); }
    h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 .25rem; overflow-wrap: anywhere; }
    h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
    h3, h4 { font-size: 1rem; margin: 1.25rem 0 .25rem; overflow-wrap: anywhere; }
    p { margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
    .lead { font-size: 1.1rem; }
    a { color: var(--link); }
    .skip { position: absolute; left: -100vw; }
    .skip:focus { left: .5rem; top: .5rem; padding: .25rem .5rem; background: var(--paper); }
    :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
    dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: .5rem 1.5rem; margin: 1rem 0; }
    dl div { border-top: 1px solid var(--line); padding-top: .25rem; }
    dl .wide { grid-column: 1 / -1; }
    dt { color: var(--faint); font-size: .875rem; }
    dd { margin: 0; overflow-wrap: anywhere; }
    .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0 1rem; }
    table { border-collapse: collapse; width: 100%; font-size: .9rem; }
    caption { text-align: left; padding: .5rem .75rem; color: var(--faint); }
    caption span { display: inline-block; max-width: calc(100vw - 5rem); }
    th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-top: 1px solid var(--line); }
    thead th { background: var(--band); white-space: nowrap; }
    tbody th { font-weight: 600; white-space: nowrap; }
    td, tbody th { overflow-wrap: break-word; min-width: 4rem; }
    td.text { min-width: 16rem; }
    td.digest { min-width: 20rem; }
    td.digest code { overflow-wrap: anywhere; }
    .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    time { white-space: nowrap; }
    code { font: .875em ui-monospace, monospace; overflow-wrap: anywhere; }
    td code { overflow-wrap: break-word; }
    .r { display: inline-block; padding: 0 .5rem; border-radius: 4px; font-weight: 600; white-space: nowrap; }
    .pass { color: var(--good); background: var(--good-band); }
    .fail, .error { color: var(--bad); background: var(--bad-band); }
    .exempt { color: var(--warn); background: var(--warn-band); }
    .not-applicable { color: var(--faint); background: var(--band); }
    .why { color: var(--faint); display: block; }
    .matrix td, .matrix th + th { text-align: center; }
    svg { display: block; width: 100%; max-width: 48rem; height: auto; overflow: visible; }
    svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
    @media (max-width: 40rem) { svg text { font-size: 19px; } }
    svg .hatch { stroke: var(--faint); }
    svg .grid { stroke: var(--line); }
    svg .curve { stroke: var(--link); stroke-width: 2; fill: none; }
    svg .unattested { stroke-dasharray: 3 4; }
    svg .point { fill: var(--link); }
    figure { margin: .5rem 0 1.5rem; }
    figcaption { color: var(--faint); margin-bottom: .25rem; overflow-wrap: anywhere; }
    @media print {
      :root {
        --paper: #ffffff; --ink: #000000; --faint: #444444; --line: #999999; --band: #ffffff; --link: #000000;
        --good: #000000; --good-band: #ffffff; --bad: #000000; --bad-band: #ffffff; --warn: #000000; --warn-band: #ffffff;
      }
      body { font-size: 10pt; }
      main, footer { max-width: none; padding: 0; }
      .skip { display: none; }
      .scroll { overflow: visible; border: 0; }
      .r { border: 1px solid #000000; }
      table { font-size: 8pt; }
      td.text, td.digest { min-width: 0; }
      th, td { padding: .25rem .4rem; }
      .matrix .r { padding: 0 .2rem; font-size: .8rem; }
      tr, figure { break-inside: avoid; }
      h2, h3, h4 { break-after: avoid; }
      thead { display: table-header-group; }
    }
    """
}
