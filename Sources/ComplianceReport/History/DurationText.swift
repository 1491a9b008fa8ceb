/// How long something lasted, for people.
enum DurationText {
  /// `8 h`, `13 d 4 h`, `45 min`, `30 s`: the largest unit that fits, and the next one where it is not zero; rounded down.
  static func short(_ seconds: Int64) -> String {
    let units: [(size: Int64, name: String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
    guard let index = units.firstIndex(where: { seconds >= $0.size }) else { return "0 s" }
    let unit = units[index]
    let text = "\(seconds / unit.size) \(unit.name)"
    guard index + 1 < units.count else { return text }
    let rest = seconds % unit.size / units[index + 1].size
    return rest == 0 ? text : text + " \(rest) \(units[index + 1].name)"
  }
}
