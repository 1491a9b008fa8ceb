import AuditLog

/// The words for what a log's end says at once (`LogState`).
struct AuditEnd {
  let head: LogHead?
  /// `sound`, `behind` (its anchor), `replaced` (its last record), `alarm`, `no-anchor`, or `unknown` where the anchor can't
  /// be read.
  let state: String
  /// One line, where something is wrong.
  let fault: String?

  init(of place: AuditLogPlace) throws(AuditLogError) {
    let log = try LogState(of: place)
    head = log.head
    let last = log.head?.sequence ?? 0
    switch log.end {
    case .sound: (state, fault) = ("sound", nil)
    case .unknown: (state, fault) = ("unknown", nil)
    case .anchorMissing: (state, fault) = ("no-anchor", Self.incomplete("has lost its anchor"))
    case .anchorDamaged: (state, fault) = ("no-anchor", Self.incomplete("has a damaged anchor"))
    case .behind(let expected):
      let count = Count.text(Int(clamping: expected), "record")
      (state, fault) = ("behind", "the audit log is behind its anchor: expected \(count), found \(last)")
    case .replaced:
      state = "replaced"
      fault = "the audit log does not end with the record that its anchor counted: record \(last) was replaced"
    case .alarm(let number):
      (state, fault) = ("alarm", "record \(number) of the audit log is an alarm that nobody has acknowledged")
    }
  }

  private static func incomplete(_ what: String) -> String {
    "the audit log \(what), so it can't be known whether records are missing"
  }
}
