/// The words of alarms: for `verify`, for `show`, and for whoever appends when one is found.
enum AlarmText {
  /// - Parameters:
  ///   - reason: as `audit.alarm` has it.
  ///   - expected: the number of the record that the anchor counted last.
  ///   - found: the number of the last record that was there.
  static func text(_ reason: String, expected: UInt64?, found: UInt64) -> String {
    let end = expected.map { "expected \(count($0)), found \(found)" } ?? "found \(count(found))"
    return switch reason {
    case "shrank": "the log lost its newest records: \(end)"
    case "replaced":
      "the log's newest records were replaced: record \(expected ?? found) is not the one that was written"
    case "changed": "records that were written are not as they were: \(end) in one chain"
    case "anchor-missing": "the log has lost its anchor, so it can't be known whether records are missing: \(end)"
    case "anchor-damaged": "the log's anchor is damaged, so it can't be known whether records are missing: \(end)"
    case "unannounced":
      "record \(found) vouches for something that is missing, or ends an alarm, and the anchor had not announced it"
    default: "the log is not what was written: \(end)"
    }
  }

  private static func count(_ number: UInt64) -> String { number == 1 ? "1 record" : "\(number) records" }
}
