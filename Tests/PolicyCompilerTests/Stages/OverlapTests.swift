import PolicyCompiler
import PolicyLanguage
import Testing

/// Which scopes can hold together: two profiles of equal priority force one key to different values, and either that is
/// a conflict with the hosts named, or they are provably apart.
@Suite struct OverlapTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    let a: String
    let b: String
    /// nil: apart.
    let meeting: String?
    var unknownHosts = "refuse"
    var testDescription: String { id }
  }

  static let hosts: [Row] = [
    Row(id: "everywhere", a: "", b: "", meeting: "for every host"),
    Row(
      id: "one group", a: "{hosts: {groups: [lab-a]}}", b: "{hosts: {groups: [lab-a]}}",
      meeting: "for hosts that both match (lab-a-01 … lab-a-30)"),
    Row(id: "two groups", a: "{hosts: {groups: [lab-a]}}", b: "{hosts: {groups: [lab-b]}}", meeting: nil),
    Row(
      id: "a group and one around it", a: "{hosts: {groups: [lab-a]}}", b: "{hosts: {groups: [labs]}}",
      meeting: "for hosts that both match (lab-a-01 … lab-a-30)"),
    Row(
      id: "groups that share single machines", a: "{hosts: {groups: [labs]}}", b: "{hosts: {groups: [projectors]}}",
      meeting: "for hosts that both match (lab-a-07, lab-b-07)"),
    Row(
      id: "exceptions part them", a: "{hosts: {groups: [labs], except: {groups: [projectors]}}}",
      b: "{hosts: {groups: [projectors]}}", meeting: nil),
    Row(
      id: "one exception is not enough", a: "{hosts: {groups: [labs], except: {names: [lab-a-07]}}}",
      b: "{hosts: {groups: [projectors]}}", meeting: "for hosts that both match (lab-b-07)"),
    Row(
      id: "ranges that share their ends", a: "{hosts: {names: [\"lab-a-[01-10]\"]}}",
      b: "{hosts: {names: [\"lab-a-[10-20]\"]}}", meeting: "for hosts that both match (lab-a-10)"),
    Row(
      id: "ranges apart", a: "{hosts: {names: [\"lab-a-[01-09]\"]}}", b: "{hosts: {names: [\"lab-a-[10-20]\"]}}",
      meeting: nil),
    Row(
      id: "literal names apart", a: "{hosts: {names: [lab-a-01]}}", b: "{hosts: {names: [lab-a-02]}}", meeting: nil),
    Row(
      id: "case does not part them", a: "{hosts: {names: [lab-a-01]}}", b: "{hosts: {names: [LAB-A-01]}}",
      meeting: "for hosts that both match (lab-a-01)"),
    Row(
      id: "globs meet in the inventory", a: "{hosts: {names: [lab-a-*]}}", b: "{hosts: {names: [lab-*-07]}}",
      meeting: "for hosts that both match (lab-a-07)"),
    Row(
      id: "globs that meet only outside the inventory", a: "{hosts: {names: [lab-*-1]}}",
      b: "{hosts: {names: [lab-b-*]}}", meeting: nil),
    Row(
      id: "the same, where unknown hosts are allowed", a: "{hosts: {names: [lab-*-1]}}",
      b: "{hosts: {names: [lab-b-*]}}", meeting: "for hosts that both match (such as lab-b-1)", unknownHosts: "allow"),
    Row(
      id: "the same glob, where unknown hosts are allowed", a: "{hosts: {names: [lab-*]}}",
      b: "{hosts: {names: [lab-*, other]}}", meeting: "for hosts that both match (lab-*)", unknownHosts: "allow"),
    Row(
      id: "a short and a full name", a: "{hosts: {names: [lab-a-01]}}", b: "{hosts: {names: [lab-a-01.example.org]}}",
      meeting: "for hosts that both match (lab-a-01.example.org)", unknownHosts: "allow"),
    Row(
      id: "a class in common is needed: a name beats a group", a: "{hosts: {names: [lab-a-01]}}",
      b: "{hosts: {groups: [lab-a]}}", meeting: nil),
    Row(
      id: "one class of several in common", a: "{hosts: {names: [lab-a-01], groups: [lab-b]}}",
      b: "{hosts: {groups: [lab-b]}}", meeting: "for hosts that both match (lab-b-01 … lab-b-30)"),
    Row(
      id: "only exceptions", a: "{hosts: {except: {groups: [lab-a]}}}", b: "{hosts: {except: {groups: [lab-b]}}}",
      meeting: nil),
  ]

  static let users: [Row] = [
    Row(
      id: "one user group", a: "{users: {groups: [students]}}", b: "{users: {groups: [students]}}",
      meeting: "for every host"),
    Row(
      id: "Unix groups may share members", a: "{users: {groups: [students]}}", b: "{users: {groups: [teachers]}}",
      meeting: "for every host"),
    Row(
      id: "excepted group", a: "{users: {groups: [students], except: {groups: [teachers]}}}",
      b: "{users: {groups: [teachers]}}", meeting: nil),
    Row(
      id: "excepted group, by a group around it", a: "{users: {groups: [students], except: {groups: [staff]}}}",
      b: "{users: {groups: [teachers]}}", meeting: nil),
    Row(id: "names differ", a: "{users: {names: [ada]}}", b: "{users: {names: [grace]}}", meeting: nil),
    Row(id: "one name", a: "{users: {names: [ada]}}", b: "{users: {names: [ada, joan]}}", meeting: "for every host"),
    Row(
      id: "groups of different names", a: "{users: {groups: [pair]}}", b: "{users: {groups: [trio]}}", meeting: nil),
    Row(
      id: "people and a group", a: "{users: {names: [\"*\"]}}", b: "{users: {groups: [pair]}}",
      meeting: "for every host"),
    Row(
      id: "people, and everyone but people", a: "{users: {names: [\"*\"]}}",
      b: "{users: {groups: [students], except: {names: [\"*\"]}}}", meeting: nil),
  ]

  static func during(
    _ days: String, _ from: String, _ to: String, _ zone: String = "Europe/Berlin", _ rest: String = ""
  )
    -> String
  {
    "{during: [{days: [\(days)], from: \"\(from)\", to: \"\(to)\", timezone: \(zone)\(rest)}]}"
  }

  static let windows: [Row] = [
    Row(
      id: "one window", a: during("mon", "09:00", "11:00"), b: during("mon", "10:00", "12:00"),
      meeting: "for every host"),
    Row(
      id: "one after the other", a: during("mon", "09:00", "11:00"), b: during("mon", "11:00", "12:00"), meeting: nil),
    Row(id: "other days", a: during("mon", "09:00", "11:00"), b: during("tue", "09:00", "11:00"), meeting: nil),
    Row(id: "always meets a window", a: "", b: during("tue", "09:00", "11:00"), meeting: "for every host"),
    Row(
      id: "past midnight", a: during("mon", "22:00", "02:00"), b: during("tue", "01:00", "03:00"),
      meeting: "for every host"),
    Row(
      id: "past midnight, but earlier", a: during("mon", "22:00", "01:00"), b: during("tue", "03:30", "05:00"),
      meeting: nil),
    Row(
      id: "sunday night into monday", a: during("sun", "22:00", "02:00"), b: during("mon", "00:00", "01:00"),
      meeting: "for every host"),
    Row(
      id: "a repeated hour makes one last into the next", a: during("sun", "00:00", "02:30"),
      b: during("sun", "02:30", "05:00"), meeting: "for every host"),
    Row(
      id: "no repeated hour in that zone", a: during("sun", "00:00", "02:30", "Asia/Tokyo"),
      b: during("sun", "02:30", "05:00", "Asia/Tokyo"), meeting: nil),
    Row(
      id: "dates apart", a: during("mon", "09:00", "11:00", "Europe/Berlin", ", between: [2026-12-01, 2026-12-18]"),
      b: during("mon", "09:00", "11:00", "Europe/Berlin", ", between: [2026-12-19, 2026-12-31]"), meeting: nil),
    Row(
      id: "dates share no Monday",
      a: during("mon", "09:00", "11:00", "Europe/Berlin", ", between: [2026-12-01, 2026-12-09]"),
      b: during("mon", "09:00", "11:00", "Europe/Berlin", ", between: [2026-12-08, 2026-12-31]"), meeting: nil),
    Row(
      id: "dates share a Monday",
      a: during("mon", "09:00", "11:00", "Europe/Berlin", ", between: [2026-12-01, 2026-12-09]"),
      b: during("mon", "09:00", "11:00", "Europe/Berlin", ", between: [2026-12-07, 2026-12-31]"),
      meeting: "for every host"),
    Row(
      id: "two zones count as meeting", a: during("mon", "09:00", "11:00"),
      b: during("mon", "12:00", "13:00", "Asia/Tokyo"),
      meeting: "for every host"),
    Row(
      id: "two zones, days apart", a: during("mon", "09:00", "11:00"), b: during("thu", "12:00", "13:00", "Asia/Tokyo"),
      meeting: nil),
    Row(
      id: "two zones, dates apart",
      a: during("mon", "09:00", "11:00", "Europe/Berlin", ", between: [2026-12-01, 2026-12-18]"),
      b: during("mon", "09:00", "11:00", "Asia/Tokyo", ", between: [2027-01-01, 2027-01-31]"), meeting: nil),
  ]

  @Test(arguments: hosts + users + windows)
  func meeting(row: Row) {
    let (compilation, _) = PolicySources.compile([
      "a.yaml": PolicySources.profile("a", applies: row.a, value: "one"),
      "b.yaml": PolicySources.profile("b", applies: row.b, value: "two"),
      "inventory.yaml": PolicySources.inventory(unknownHosts: row.unknownHosts),
    ])
    let errors = compilation.diagnostics.filter { $0.severity == .error }
    #expect(errors.filter { $0.code != .conflict } == [])
    #expect(
      errors.flatMap(\.related).map(\.message) == row.meeting.map { ["the other value is here, " + $0] } ?? [])
    #expect((compilation.payload == nil) == (row.meeting != nil))
  }

  /// Which file comes first changes nothing but the order of the two places.
  @Test(arguments: hosts + users + windows)
  func meetingIsSymmetric(row: Row) {
    let (compilation, _) = PolicySources.compile([
      "a.yaml": PolicySources.profile("a", applies: row.b, value: "one"),
      "b.yaml": PolicySources.profile("b", applies: row.a, value: "two"),
      "inventory.yaml": PolicySources.inventory(unknownHosts: row.unknownHosts),
    ])
    #expect((compilation.payload == nil) == (row.meeting != nil))
  }

  /// Without an inventory every host is welcome, so nothing but the patterns parts two profiles.
  @Test func withoutAnInventory() {
    let (compilation, _) = PolicySources.compile([
      "a.yaml": PolicySources.profile("a", applies: "{hosts: {names: [lab-*]}}", value: "one"),
      "b.yaml": PolicySources.profile("b", applies: "{hosts: {names: [\"*-b\"]}}", value: "two"),
    ])
    #expect(
      compilation.diagnostics.flatMap(\.related).map(\.message) == [
        "the other value is here, for hosts that both match (such as lab-b)"
      ])
  }
}
