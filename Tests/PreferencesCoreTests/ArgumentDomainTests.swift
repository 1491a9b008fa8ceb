import Foundation
import PropertyList
import Testing

@testable import PreferencesCore

@Suite struct ArgumentDomainTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let words: [String]
    let values: [String: PropertyListValue]
    var testDescription: String { words.joined(separator: "␣") }
  }

  static let rows: [Row] = [
    Row(words: [], values: [:]),
    Row(words: ["-a", "1"], values: ["a": "1"]),
    Row(words: ["-a", "1", "-b", "two words"], values: ["a": "1", "b": "two words"]),
    Row(words: ["--long", "v"], values: ["-long": "v"]),
    Row(words: ["-n", "-5"], values: [:]),
    Row(words: ["-n", "-5", "x"], values: ["5": "x"]),
    Row(words: ["-m", "-last", "x"], values: ["last": "x"]),
    Row(words: ["-a", "1", "--", "-b", "2"], values: ["a": "1"]),
    Row(words: ["-a", "--", "-b", "2"], values: [:]),
    Row(words: ["-a"], values: [:]),
    Row(words: ["file", "-a", "1", "other", "-b", "2"], values: ["a": "1", "b": "2"]),
    Row(words: ["-a", "1", "-a", "2"], values: ["a": "2"]),
    Row(words: ["-", "v"], values: [:]),
    Row(words: ["-a", ""], values: ["a": ""]),
    Row(words: ["-a", "  spaced \n"], values: ["a": "spaced"]),
    Row(words: ["-a", "{a=1;}"], values: ["a": .dictionary(["a": "1"])]),
    Row(words: ["-a", " (1,2) "], values: ["a": .array(["1", "2"])]),
    Row(words: ["-a", "<0a0b>"], values: ["a": .data([10, 11])]),
    Row(words: ["-a", "[1,2]"], values: ["a": "[1,2]"]),
    Row(words: ["-a", "{bad"], values: ["a": "{bad"]),
    Row(words: ["-a", "\"quoted text\""], values: ["a": "quoted text"]),
    Row(words: ["-a", "(1, {x = (y);})"], values: ["a": .array(["1", .dictionary(["x": .array(["y"])])])]),
    Row(
      words: ["-a", "<plist version=\"1.0\"><array><integer>1</integer><true/></array></plist>"],
      values: ["a": .array([1, true])]),
    Row(words: ["-a", "<not a list"], values: ["a": "<not a list"]),
    Row(words: ["-a", "YES"], values: ["a": "YES"]),
    Row(words: ["-a\u{301}", "v"], values: ["a\u{301}": "v"]),
    Row(words: ["-\u{301}", "v"], values: ["\u{301}": "v"]),
  ]

  @Test(arguments: rows) func parses(row: Row) { #expect(ArgumentDomain.parse(row.words) == row.values) }

  @Test func theExecutablesNameMakesADomain() {
    #expect(ApplicationIdentity.domain(forExecutable: "/usr/bin/editor") == "editor")
    #expect(ApplicationIdentity.domain(forExecutable: "/nonexistent/editor (deleted)") == "editor")
    #expect(ApplicationIdentity.domain(forExecutable: "/opt/.hidden") == "_hidden")
    #expect(ApplicationIdentity.domain(forExecutable: nil) == "application")
    #expect(DomainName.fault(in: ApplicationIdentity.fallback()) == nil)
  }

  @Test(arguments: [
    ("", "a domain's name can't be empty"), ("a/b", "a domain's name can't contain '/': a/b"),
    ("..", "a domain's name can't begin with '.': .."), ("a\0b", "a domain's name can't contain a NUL character"),
    (
      String(repeating: "é", count: 109),
      "a domain's name can't be longer than 216 bytes; this one has 218"
    ),
  ])
  func namesThatLeadElsewhereAreRefused(name: String, message: String) {
    #expect(DomainName.fault(in: name)?.description == message)
    let error = #expect(throws: DomainNameFault.self) {
      try SearchList(configuration: SearchList.Configuration(domain: name, observes: false))
    }
    #expect(error?.description == message)
  }

  @Test func namesThatAreFine() {
    #expect(
      ["org.example.App", "a b", "ü", String(repeating: "x", count: 216)].allSatisfy { DomainName.fault(in: $0) == nil }
    )
  }
}
