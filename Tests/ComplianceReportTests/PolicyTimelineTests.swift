import AuditLog
import ForcedDomain
import Testing

@testable import ComplianceReport

/// Which generation was in force when, from records alone: what they settle, and the gaps that they leave.
@Suite struct PolicyTimelineTests {
  /// Records of one day, a line each: `minute kind generation previous`, and more fields as `name=number`.
  static func records(_ text: String) -> [StoredRecord] {
    text.split(separator: "\n").enumerated().compactMap { index, line in
      let words = line.split(separator: " ")
      let minute = Int(words[0])!
      var fields = ["\"reason\":\"why\""]
      var uid = "0"
      for word in words.dropFirst(2) {
        let parts = word.split(separator: "=")
        if parts[0] == "uid" { uid = String(parts[1]) } else { fields.append("\"\(parts[0])\":\(parts[1])") }
      }
      let time =
        "2025-12-01T\(minute / 60 < 10 ? "0" : "")\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00.000Z"
      return StoredRecord(
        line: Array(
          ("{\"seq\":\(index + 1),\"prev\":\"\(String(repeating: "0", count: 64))\",\"time\":\"\(time)\",\"kind\":\"\(words[1])\","
            + "\"host\":\"h\",\"attested\":{\"uid\":\(uid),\"pid\":1},\"fields\":{\(fields.joined(separator: ","))}}")
            .utf8))
    }
  }

  static let midnight: Int64 = 1_764_547_200  // 2025-12-01T00:00:00Z

  static func timeline(_ text: String, from: Int64 = 0, to: Int64 = 600, marker: UInt64?) -> PolicyTimeline {
    PolicyTimeline(
      records(text), over: midnight + from * 60..<midnight + to * 60,
      marker: marker.map {
        GenerationMarker(
          generation: $0, serial: 1, sourceDigest: [], hostName: "h", installedAt: 0, forcedChecksum: 0)
      }, isTrusted: { $0 == 0 })
  }

  static func minutes(_ span: Range<Int64>) -> String {
    "\((span.lowerBound - midnight) / 60)-\((span.upperBound - midnight) / 60)"
  }

  static func states(_ timeline: PolicyTimeline) -> String {
    timeline.stretches.map { stretch in
      let state =
        switch stretch.state {
        case .inForce(let generation): "g\(generation)"
        case .nothing: "nothing"
        case .unknown: "?"
        }
      return "\(minutes(stretch.span)) \(state)"
    }.joined(separator: ", ")
  }

  static func gaps(_ timeline: PolicyTimeline) -> [String] {
    timeline.gaps.map { "\(minutes($0.from..<$0.to)) \($0.kind.rawValue)" }
  }

  @Test func aWindowThatWasNoticedLateSaysWhen() {
    let timeline = Self.timeline(
      "0 policy.installed generation=1 previous=0\n60 policy.window-opened generation=1 profile=\"p\"\n"
        + #"120 policy.window-closed generation=1 profile="p" edge="2025-12-01T01:30:00Z" late=true"#, marker: 1)
    #expect(
      timeline.events.map(\.text) == [
        "generation 1 was installed", "the window of p opened",
        "the window of p had closed at 2025-12-01T01:30:00Z, which was noticed late",
      ])
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let what: String
    let records: String
    let marker: UInt64?
    let states: String
    /// Without those of the agent.
    let gaps: [String]
    var testDescription: String { what }
  }

  static let rows = [
    Row(
      what: "changes follow each other",
      records:
        "0 audit.began\n0 policy.installed generation=1 previous=0\n60 policy.installed generation=2 previous=1\n"
        + "120 policy.refreshed generation=3 previous=2",
      marker: 3, states: "0-60 g1, 60-120 g2, 120-600 g3", gaps: []),
    Row(
      what: "what was there before the first change, back to the beginning of the log",
      records: "60 audit.began\n120 policy.installed generation=5 previous=4", marker: 5,
      states: "0-60 ?, 60-120 g4, 120-600 g5", gaps: ["0-60 log-starts-later"]),
    Row(
      what: "no change on record", records: "0 audit.began", marker: 7, states: "0-600 g7", gaps: []),
    Row(what: "nothing installed at all", records: "0 audit.began", marker: nil, states: "0-600 nothing", gaps: []),
    Row(
      what: "a change that never took effect, by the next change",
      records:
        "0 policy.installed generation=1 previous=0\n60 policy.installed generation=2 previous=1\n"
        + "120 policy.installed generation=3 previous=1", marker: 3, states: "0-120 g1, 120-600 g3", gaps: []),
    Row(
      what: "a change that never took effect, by what is installed now",
      records: "0 policy.installed generation=1 previous=0\n60 policy.installed generation=2 previous=1", marker: 1,
      states: "0-600 g1", gaps: []),
    Row(
      what: "the agent sees the generation before, shortly after the record of a change",
      records:
        "0 policy.installed generation=1 previous=0\n60 policy.installed generation=2 previous=1\n"
        + "60 agent.heartbeat generation=1\n120 agent.heartbeat generation=2", marker: 2, states: "0-60 g1, 60-600 g2",
      gaps: []),
    Row(
      what: "a window of an earlier generation, noticed late",
      records:
        "0 policy.installed generation=1 previous=0\n60 policy.installed generation=2 previous=1\n"
        + "120 policy.window-opened generation=1 late=true", marker: 2, states: "0-60 g1, 60-600 g2", gaps: []),
    Row(
      what: "a generation that nobody recorded",
      records: "0 policy.installed generation=1 previous=0\n60 agent.heartbeat generation=5", marker: 5,
      states: "0-60 ?, 60-600 g5", gaps: ["0-60 unsettled"]),
    Row(
      what: "another generation is installed now",
      records: "0 policy.installed generation=1 previous=0", marker: 9, states: "0-600 ?", gaps: ["0-600 unsettled"]),
    Row(
      what: "taken away and installed anew",
      records:
        "0 policy.installed generation=3 previous=2\n60 policy.uninstalled generation=3\n"
        + "120 policy.installed generation=1 previous=0", marker: 1, states: "0-60 g3, 60-120 nothing, 120-600 g1",
      gaps: []),
    Row(
      what: "records were lost",
      records:
        "0 policy.installed generation=1 previous=0\n60 policy.installed generation=2 previous=1\n90 audit.alarm\n"
        + "120 policy.installed generation=4 previous=3", marker: 4,
      states: "0-60 g1, 60-90 ?, 90-120 g3, 120-600 g4", gaps: ["60-90 records-lost"]),
    Row(
      what: "the clock was set back",
      records:
        "0 policy.installed generation=1 previous=0\n120 policy.installed generation=2 previous=1\n"
        + "60 policy.installed generation=3 previous=2", marker: 3, states: "0-60 g1, 60-120 ?, 120-600 g3",
      gaps: ["60-120 clock"]),
    Row(
      what: "a user's word names no generation",
      records: "0 policy.installed generation=1 previous=0\n60 policy.installed generation=2 previous=1 uid=1000",
      marker: 1, states: "0-600 g1", gaps: []),
    Row(
      what: "dropped and recovered",
      records:
        "0 policy.installed generation=1 previous=0\n60 audit.recovered\n90 audit.dropped count=3\n"
        + "91 audit.dropped count=4 user=1000", marker: 1, states: "0-600 g1",
      gaps: ["0-60 recovered", "90-90 dropped", "91-91 dropped"]),
  ]

  /// What a user had the agent refuse makes no report of others incomplete.
  @Test func refusalsOfOneUserAreNoGapOfAnother() {
    let records =
      "0 policy.installed generation=1 previous=0\n90 audit.dropped count=3\n91 audit.dropped count=4 user=1000\n"
      + "92 audit.dropped count=4 user=1001"
    var timeline = Self.timeline(records, marker: 1)
    func dropped() -> [String] { Self.gaps(timeline).filter { $0.hasSuffix("dropped") } }
    #expect(dropped() == ["90-90 dropped", "91-91 dropped", "92-92 dropped"])
    #expect(timeline.keepGaps(of: [1000]) == 1)
    #expect(dropped() == ["90-90 dropped", "91-91 dropped"])
    #expect(timeline.keepGaps(of: [0]) == 1)
    #expect(dropped() == ["90-90 dropped"])
  }

  @Test(arguments: rows) func whatWasInForce(_ row: Row) {
    let timeline = Self.timeline(row.records, marker: row.marker)
    #expect(Self.states(timeline) == row.states)
    #expect(Self.gaps(timeline).filter { !$0.hasSuffix("no-agent") } == row.gaps)
  }

  struct Life: Sendable, CustomTestStringConvertible {
    let what: String
    let records: String
    let gaps: [String]
    var testDescription: String { what }
  }

  static let lives = [
    Life(what: "no agent", records: "0 audit.began", gaps: ["0-600 no-agent"]),
    Life(
      what: "signs of life, however far apart, that tell the same time",
      records:
        "0 agent.started generation=1\n60 agent.heartbeat generation=1 uptime=3600\n"
        + "595 agent.heartbeat generation=1 uptime=35700", gaps: []),
    Life(
      what: "the machine slept for an hour",
      records:
        "0 agent.started generation=1\n120 agent.heartbeat generation=1 uptime=3600\n"
        + "595 agent.heartbeat generation=1 uptime=32100", gaps: ["0-120 no-agent"]),
    Life(
      what: "stopped and started",
      records:
        "0 agent.started generation=1\n60 agent.heartbeat generation=1 uptime=3600\n65 agent.stopped generation=1\n"
        + "90 agent.started generation=1\n595 agent.heartbeat generation=1 uptime=30300", gaps: ["65-90 no-agent"]),
    Life(
      what: "killed and started",
      records:
        "0 agent.started generation=1\n60 agent.heartbeat generation=1 uptime=3600\n"
        + "90 agent.started generation=1\n595 agent.heartbeat generation=1 uptime=30300", gaps: ["60-90 no-agent"]),
    Life(
      what: "silent since", records: "0 agent.started generation=1\n60 agent.heartbeat generation=1 uptime=3600",
      gaps: ["60-600 no-agent"]),
  ]

  @Test(arguments: lives) func whereTheAgentAttests(_ row: Life) {
    #expect(Self.gaps(Self.timeline(row.records, marker: 1)) == row.gaps)
  }

  @Test func onlyWhatConcernsTheTimeIsTold() {
    let timeline = Self.timeline(
      "0 policy.installed generation=1 previous=0\n30 audit.recovered\n60 policy.installed generation=2 previous=1\n"
        + "200 audit.dropped count=1", from: 90, to: 120, marker: 2)
    #expect(Self.states(timeline) == "90-120 g2")
    #expect(Self.gaps(timeline) == ["90-120 no-agent"])
    #expect(timeline.events == [])
  }

  @Test func spansOfTimeAreJoinedAndTakenAway() {
    let spans = TimeSpans([5..<7, 1..<3, 2..<4, 7..<8])
    #expect(spans.ranges == [1..<4, 5..<8])
    #expect(spans.missing(from: 0..<10) == [0..<1, 4..<5, 8..<10])
    #expect(spans.contains(5..<8))
    #expect(!spans.contains(3..<6))
  }
}
