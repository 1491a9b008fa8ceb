import ForcedDomain
import PropertyList

/// Files that several suites use.
enum Sample {
  static let horizon: Range<Int64> = 1_000_000..<2_000_000
  /// Inside the horizon, inside the first interval of the sample's window.
  static let duringWindow: Int64 = 1_100_050
  static let betweenWindows: Int64 = 1_150_000
  static let window = WeeklyWindow(
    days: 0b11111, fromMinute: 540, toMinute: 690, timeZone: "Europe/Berlin", firstDay: 20_000, lastDay: nil)
  static let intervals: [Range<Int64>] = [1_100_000..<1_100_100, 1_200_000..<1_200_100]

  static let stamp = FileStamp(
    generation: 7, serial: 42, sourceDigest: (0..<32).map { UInt8($0) }, hostName: "lab-a-03", horizon: horizon)

  /// A small file with something of everything that a narrowed file can hold.
  static func forced(_ stamp: FileStamp = Sample.stamp) throws(ForcedDomainError) -> [UInt8] {
    var writer = ForcedDomainWriter(kind: .forced)
    writer.setUserGroups([
      UserGroup(
        name: "students", names: ["s1", "s2"], unixGroups: ["students"], userIDs: [1001], groupIDs: [2001]),
      UserGroup(name: "teachers", names: ["miller"], userIDs: [1500]),
    ])
    writer.setResolvedUsers([
      ResolvedUser(name: "s1", userID: 1001), ResolvedUser(name: "s2", userID: nil),
      ResolvedUser(name: "miller", userID: 1500),
    ])
    writer.setAnnex(.dictionary(["containers": .array([.string("org.example.Editor")])]))
    let exam = writer.addProfile(ProfileReference(id: "org.example.exam", title: "Exam mode", owner: "lab-admins"))
    let base = writer.addProfile(ProfileReference(id: "org.example.base", title: "Baseline — überall"))
    let students = writer.addCondition(
      Condition(
        users: UserSelector(include: [.group("students"), .name("s2")], exclude: [.group("teachers")]),
        windows: [window], notAfter: 1_900_000), intervals: [intervals])
    let people = writer.addCondition(Condition(users: UserSelector(include: [.people])))
    let browser = writer.addDomain("org.example.Browser")
    let global = writer.addDomain("NSGlobalDomain")

    func add(
      _ domain: UInt32, _ key: String, _ value: PropertyListValue?, action: EntryAction = .replace,
      section: PolicySection = .forced, rank: Rank = Rank(), condition: UInt32 = 0, profile: UInt32
    ) {
      let reference = value.map { writer.addValue($0) }
      writer.addEntry(
        key: writer.addKey(domain: domain, key: key), section: section, action: action, rank: rank,
        condition: condition, profile: profile, value: reference)
    }
    add(browser, "AllowNetwork", .boolean(true), rank: Rank(priority: 10), profile: base)
    add(browser, "AllowNetwork", .boolean(false), rank: Rank(priority: 100), condition: students, profile: exam)
    add(browser, "HomePage", .string("https://exam.example.org/ü"), profile: base)
    add(browser, "HomePage", .string("about:blank"), section: .recommended, profile: base)
    add(browser, "Zoom", .real(1.25), condition: people, profile: base)
    add(browser, "Retries", .integer(-3), profile: base)
    add(browser, "Huge", .integer(PropertyListInteger(UInt64.max)), profile: base)
    add(browser, "Since", .date(PropertyListDate(secondsSinceReferenceDate: 0.5)), profile: base)
    add(browser, "Blob", .data([0, 1, 255, 7]), profile: base)
    add(
      browser, "Extensions", .array([.string("a"), .string("b")]), action: .union, rank: Rank(priority: 5),
      profile: base)
    add(browser, "Extensions", .array([.string("b"), .integer(1)]), action: .union, profile: exam)
    add(browser, "FontSize", nil, action: .release, rank: Rank(priority: 9), condition: students, profile: exam)
    add(browser, "FontSize", .integer(12), profile: base)
    add(
      global, "AppleLanguages",
      .dictionary(["first": .array([.string("en"), .dictionary(["deep": .boolean(true)])]), "é": .real(.nan)]),
      profile: base)
    return try writer.finish(stamp)
  }

  static let students = UserFacts(userID: 1001, groupIDs: [100])
  static let person = UserFacts(userID: 3000, groupIDs: [100])
  static let root = UserFacts(userID: 0, groupIDs: [0])
}
