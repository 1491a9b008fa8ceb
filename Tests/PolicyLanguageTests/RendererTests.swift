import PolicyLanguage
import Testing

/// The text form of LOOK: place first, line and caret, notes, hint.
@Suite struct RendererTests {
  let source = YAMLStream(
    bytes: Array("a: 1\nforced:\n  HomePage: https://exam.example.org/\n".utf8), path: "p/exam.yaml"
  ).text

  var conflict: Diagnostic {
    Diagnostic(
      .conflict, path: "p/exam.yaml", at: SourcePosition(line: 3, column: 13, length: 25),
      "HomePage is forced to different values at the same rank",
      related: [
        RelatedPosition(
          path: "p/kiosk.yaml", position: SourcePosition(line: 8, column: 15), message: "the other value is here")
      ])
  }

  @Test func textForm() {
    #expect(
      DiagnosticRenderer(sources: [source]).render(conflict) == """
        p/exam.yaml:3:13: error: HomePage is forced to different values at the same rank [conflict]
            3 |   HomePage: https://exam.example.org/
              |             ^~~~~~~~~~~~~~~~~~~~~~~~~
        p/kiosk.yaml:8:15: note: the other value is here
        hint: give one profile a higher priority, or make their hosts disjoint

        """)
  }

  @Test func theSameWordsWithoutColour() {
    let colored = DiagnosticRenderer(sources: [source], isColored: true).render(conflict)
    #expect(colored.contains("\u{1b}[1;31merror:\u{1b}[0m"))
    var plain = ""
    var isEscape = false
    for character in colored {
      if character == "\u{1b}" { isEscape = true }
      if !isEscape { plain.append(character) }
      if isEscape && character == "m" { isEscape = false }
    }
    #expect(plain == DiagnosticRenderer(sources: [source]).render(conflict))
  }

  @Test func placesOutsideTheSourceHaveNoLine() {
    let renderer = DiagnosticRenderer(sources: [source])
    for position in [
      SourcePosition(line: 9, column: 1), SourcePosition(line: 0, column: 0), SourcePosition(line: 1, column: 99),
    ] {
      let text = renderer.render(Diagnostic(.syntax, path: "p/exam.yaml", at: position, "x"))
      #expect(text == "p/exam.yaml:\(position.line):\(position.column): error: x [syntax]\n")
    }
  }

  @Test func secretsAreNotQuoted() throws {
    let tree = try CaseTests.load("secret-lines-are-concealed")
    let text = DiagnosticRenderer(sources: tree.sources).render(tree.diagnostics)
    #expect(tree.diagnostics.contains { $0.code == .secretKey })
    #expect(!text.contains("hunter2") && !text.contains("0123"))
  }

  @Test func sortedAndEachOnce() {
    let b = Diagnostic(.syntax, path: "b", at: .start, "x")
    let a2 = Diagnostic(.syntax, path: "a", at: SourcePosition(line: 2, column: 1), "x")
    let a1 = Diagnostic(.wrongType, path: "a", at: SourcePosition(line: 1, column: 9), "x")
    #expect([b, a2, a1, a2, b].sortedForReport() == [a1, a2, b])
  }
}
