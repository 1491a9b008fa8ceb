import AuditEvents
import PropertyList

/// What a packet of a program is.
///
/// The law: a program tells what it met itself, no more. Events that only root's commands or the agent can know of (an
/// installation, a window's edge, a loss in the log) are not taken from a socket that everybody may write to: whoever sends
/// one is refused, root included, since root's commands write the log themselves.
enum IncomingPacket {
  case event(AuditEvent)
  case status
  case refused(Refusal)

  enum Refusal: String, CaseIterable, Sendable {
    /// Not an event.
    case malformed
    /// Longer than a packet may be.
    case oversized
    /// An event that is not a program's to tell.
    case foreign
    /// More than the user's share.
    case rate
    /// More connections than the user's share.
    case connections
  }

  static let kinds: Set<AuditEvent.Kind> = [
    .forcedWrite, .foreignRedirect, .domainDamaged, .domainUnwritable, .eventsDropped,
  ]

  init(_ bytes: UnsafeRawBufferPointer) {
    // Nothing of ours is that short, and the question is compared whole.
    if bytes.elementsEqual(AgentProtocol.statusQuestion.utf8) {
      self = .status
      return
    }
    guard let event = AuditEvent(line: Array(bytes)) else {
      self = .refused(.malformed)
      return
    }
    self = Self.kinds.contains(event.kind) ? .event(event) : .refused(.foreign)
  }
}
