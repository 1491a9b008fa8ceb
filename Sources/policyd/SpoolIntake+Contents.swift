import AuditEvents
import PropertyList

// What a spool's file says, as records.
extension SpoolIntake {
  struct Contents {
    var records: [AgentRecord] = []
    /// Some lines say that they are of another host or installation; they are counted, and not among the records.
    var isWithForeign = false
  }

  /// The events in a spool's file; the same one after the other are one record with a count. What is no event, what is
  /// beyond the bounds, and what is of another origin, is one record that counts it.
  /// - Parameter time: of events that state none.
  func contents(_ bytes: [UInt8], owner: UInt32, writtenAt time: PropertyListDate) -> Contents {
    struct Place: Hashable {
      let sameness: PendingRecords.Sameness
      let isOfUnknownOrigin: Bool
    }
    var contents = Contents()
    var counts: [Int] = []
    var places: [Place: Int] = [:]
    var refused: [String: Int] = [:]
    let nobody = AuditEvent.Claim(processID: 0, userID: owner, executable: nil)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let spooled = SpooledEvent(line: Array(line), orTime: time, orClaim: nobody) else {
        refused["spool", default: 0] += 1
        continue
      }
      if let other = spooled.origin, other != origin.text {
        refused["origin", default: 0] += 1
        contents.isWithForeign = true
        continue
      }
      let event = spooled.event
      guard contents.records.count < Self.maximumEvents, IncomingPacket.kinds.contains(event.kind) else {
        refused["spool", default: 0] += 1
        continue
      }
      let isOfUnknownOrigin = spooled.origin == nil
      let record = AgentRecord(event, attestation: .spool(owner: owner, isOfUnknownOrigin: isOfUnknownOrigin))
      let place = Place(
        sameness: PendingRecords.Sameness(record, user: owner, executable: event.claim.executable),
        isOfUnknownOrigin: isOfUnknownOrigin)
      if let number = places[place], event.kind != .eventsDropped {
        counts[number] += 1
      } else {
        places[place] = contents.records.count
        contents.records.append(record)
        counts.append(1)
      }
    }
    for (number, count) in counts.enumerated() where count > 1 {
      contents.records[number].fields["count"] = .number(count)
    }
    if !refused.isEmpty { contents.records.append(Self.refusal(refused, owner: owner)) }
    return contents
  }

  /// - Parameter reasons: how many lines for which reason.
  static func refusal(_ reasons: [String: Int], owner: UInt32) -> AgentRecord {
    AgentRecord(
      .auditDropped,
      [
        "count": .number(reasons.values.reduce(0, +)), "user": .number(owner),
        "reasons": .dictionary(reasons.mapValues { .number($0) }),
      ],
      isAdministrative: false)
  }
}
