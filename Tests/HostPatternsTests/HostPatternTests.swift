import HostPatterns
import Testing

@Suite struct HostPatternTests {
  struct Match: Sendable, CustomTestStringConvertible {
    let id: String
    let pattern: String
    let kind: HostPattern.Kind
    let yes: [String]
    let no: [String]
    var testDescription: String { id }
  }

  static let matches: [Match] = [
    Match(
      id: "prefix glob, anchored", pattern: "kiln*", kind: .glob,
      yes: ["kiln01", "kiln", "KILN7", "kiln.lab.example"], no: ["oldkiln01", "kil"]),
    Match(id: "question mark", pattern: "pc-0?", kind: .glob, yes: ["pc-01", "PC-0z"], no: ["pc-012", "pc-0"]),
    Match(
      id: "range keeps its padding", pattern: "pc-[009-013].lab", kind: .range,
      yes: ["pc-009.lab", "PC-013.LAB", "pc-010.lab"], no: ["pc-9.lab", "pc-014.lab", "pc-010", "pc-0100.lab"]),
    Match(
      id: "range and glob", pattern: "lab[1-3]*", kind: .glob, yes: ["lab1x", "lab3"], no: ["lab-1", "lab4", "lab"]),
    Match(
      id: "literal, short", pattern: "Pc-07", kind: .literal, yes: ["pc-07", "PC-07.example.org"],
      no: ["pc-070", "example.pc-07"]),
    Match(
      id: "literal, full", pattern: "pc-07.example.org", kind: .literal, yes: ["PC-07.Example.org"],
      no: ["pc-07", "pc-07.example.com", "pc-07xexample.org"]),
    Match(id: "everything", pattern: "*", kind: .glob, yes: ["a", "a.b.c"], no: []),
    Match(
      id: "star crosses dots in a full name", pattern: "a*.org", kind: .glob, yes: ["a.b.org", "a.org"], no: ["a"]),
    Match(
      id: "stars go back", pattern: "*ab*abc", kind: .glob, yes: ["ababc", "xabyabcabc"], no: ["abc", "ababcx"]),
    Match(id: "two ranges", pattern: "r[1-2]-[01-12]", kind: .range, yes: ["r1-01", "r2-12"], no: ["r3-01", "r1-13"]),
  ]

  @Test(arguments: matches)
  func matching(row: Match) throws {
    let pattern = try HostPattern(parsing: row.pattern)
    #expect(pattern.kind == row.kind)
    #expect(row.yes.filter { !pattern.matches(hostName: $0) } == [])
    #expect(row.no.filter { pattern.matches(hostName: $0) } == [])
  }

  @Test(arguments: [
    ("", "a host pattern can't be empty", 0),
    ("pc-[009:013].lab", "brackets hold a range of numbers, such as [01-30]", 3),
    ("pc-[01-3]", "both ends of a range need the same number of digits: 01 and 3 differ", 3),
    ("pc-[30-01]", "the range starts at 30, above its end 01", 3),
    ("pc-[", "'[' is never closed", 3),
    ("pc-01]", "']' without '['", 5),
    ("pc-[abc]", "brackets hold a range of numbers, such as [01-30]", 3),
    ("pc+1", "'+' can't stand in a host pattern; it knows names, '*', '?' and ranges such as [01-30]", 2),
    ("bär", "'ä' can't stand in a host pattern; it knows names, '*', '?' and ranges such as [01-30]", 1),
    ("a b", "' ' can't stand in a host pattern; it knows names, '*', '?' and ranges such as [01-30]", 1),
    ("[0000000000000000000-0000000000000000001]", "a range can't have more than 18 digits", 0),
  ])
  func refused(pattern: String, message: String, offset: Int) {
    let error = #expect(throws: HostPatternError.self) { try HostPattern(parsing: pattern) }
    #expect(error?.description == message)
    #expect(error?.offset == offset)
  }

  static let pairs: [(String, String, Bool)] = [
    ("lab-a-*", "lab-b-*", false), ("lab-a-*", "lab-*-01", true), ("lab-[01-10]", "lab-[10-20]", true),
    ("lab-[01-09]", "lab-[10-20]", false), ("lab-[1-9]", "lab-[10-20]", false), ("lab-[001-100]", "lab-1*", true),
    ("lab-[001-100]", "lab-2*", false), ("lab-[123-456]", "lab-?5?", true), ("lab-[123-149]", "lab-?5?", false),
    ("pc", "pc.example.org", true), ("pc", "px.example.org", false), ("pc*", "*.example.org", true),
    ("pc?", "pc.*", false), ("*", "a.b", true), ("*x", "*.y", true), ("a*", "*b.c", true), ("?", "??", false),
    ("a*b", "b*a", false), ("*a", "*b", false), ("PC-07", "pc-0?", true), ("a.b", "a.?", true), ("*.a", "*.b", false),
  ]

  @Test(arguments: pairs)
  func intersections(a: String, b: String, expected: Bool) throws {
    let (x, y) = (try HostPattern(parsing: a), try HostPattern(parsing: b))
    #expect(x.intersects(y) == expected)
    #expect(y.intersects(x) == expected)
  }

  @Test(arguments: [
    ("*", "pc", true), ("*", "a.b", true), ("pc-*", "pc-[01-30]", true), ("pc-[01-30]", "pc-[05-10]", true),
    ("pc-[05-10]", "pc-[01-30]", false), ("pc-?[0-9]", "pc-[01-30]", true), ("pc", "pc.example.org", true),
    ("pc.example.org", "pc", false), ("*.org", "a*.org", true), ("a*.org", "*.org", false), ("p*", "pc*.org", true),
    ("PC", "pc", true),
  ])
  func subsumption(a: String, b: String, expected: Bool) throws {
    #expect(try HostPattern(parsing: a).subsumes(HostPattern(parsing: b)) == expected)
  }

  /// Intersection and subsumption agree with plain matching over every name of a small world.
  @Test func relationsAgreeWithMatching() throws {
    let patterns = try [
      "*", "a*", "*b", "?", "a?", "a", "b1", "[0-1]", "a[0-1]", "*[1-1]", "a.b", "*.b", "a*.?", "a.*",
    ]
    .map { try HostPattern(parsing: $0) }
    let letters = ["a", "b", "0", "1", "."]
    var names: [String] = letters
    for _ in 0..<3 { names += names.flatMap { name in letters.map { name + $0 } } }
    let world = Set(names.filter { !$0.hasPrefix(".") })
    for a in patterns {
      for b in patterns {
        let both = world.contains { a.matches(hostName: $0) && b.matches(hostName: $0) }
        if both { #expect(a.intersects(b), "\(a) \(b)") }
        if a.subsumes(b) {
          #expect(world.allSatisfy { !b.matches(hostName: $0) || a.matches(hostName: $0) }, "\(a) \(b)")
        }
      }
    }
  }

  @Test func expansion() throws {
    #expect(try HostPattern(parsing: "r[1-2]-[09-10]").expandedNames(limit: 4) == ["r1-09", "r1-10", "r2-09", "r2-10"])
    #expect(try HostPattern(parsing: "r[1-2]-[09-10]").expandedNames(limit: 3) == nil)
    #expect(try HostPattern(parsing: "PC").expandedNames(limit: 1) == ["pc"])
    #expect(try HostPattern(parsing: "pc*").expandedNames(limit: 1000) == nil)
    #expect(try HostPattern(parsing: "[000000000000000000-999999999999999999]").expandedNames(limit: 1000) == nil)
  }
}
