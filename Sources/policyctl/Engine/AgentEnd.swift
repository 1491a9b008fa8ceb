import AuditLog
import LinuxFiles
import PropertyList

/// Why no agent is there, as far as the audit log tells.
///
/// The law: an agent that is asked to end says so in the log (`agent.stopped`), and one that finds nothing installed any more
/// ends by itself. Where the newest word of an agent is a sign of life, it ended without one: in this boot it was killed,
/// or crashed; in an earlier one that may have been, or the machine went down.
struct AgentEnd {
  enum Reason: String {
    case neverRan = "never-ran"
    case stopped
    case killed
    case earlierBoot = "earlier-boot"
    case uninstalled
    /// The log can't be read.
    case unknown
  }

  let reason: Reason
  /// Of the newest word of an agent, in Unix seconds; nil where there is none.
  let lastWord: Int64?

  private static let kinds = ["agent.started", "agent.heartbeat", "agent.stopped", "policy.uninstalled"]

  /// - Parameter boot: the random name of this boot.
  init(in place: AuditLogPlace, boot: String? = WallClock.bootIdentifier()) {
    let last: StoredRecord?
    do throws(AuditLogError) { last = try LogReader(place).last(of: Self.kinds) } catch {
      (reason, lastWord) = (.unknown, nil)
      return
    }
    guard let last else {
      (reason, lastWord) = (.neverRan, nil)
      return
    }
    if last.kind == "policy.uninstalled" {
      (reason, lastWord) = (.uninstalled, nil)
      return
    }
    lastWord = Int64(last.time.unixTime.rounded(.down))
    if last.kind == "agent.stopped" {
      reason = .stopped
    } else if let boot, let then = last.fields["boot"]?.stringValue, boot != then {
      reason = .earlierBoot
    } else {
      reason = .killed
    }
  }
}
