import Digests
import LinuxFiles
import PropertyList

/// What the walk through a chain comes to, when all of it was read.
extension ChainWalk {
  func finish(_ snapshot: LogSnapshot, _ place: AuditLogPlace, into result: inout AuditVerification) {
    for missing in missingParts {
      if erasedRecords.contains(where: { $0.contains(missing.sequence) }) {
        result.erased += 1
      } else if let anchor, missing.sequence > anchor.tip.sequence, missing.file == snapshot.segments.last?.name.segment
      {
        result.notes.append(
          "record \(missing.sequence) was not finished: its personal part is not there, as after a power cut; the next record "
            + "cuts it off")
      } else {
        result.find(
          .tampered, file: missing.file, line: missing.line, sequence: missing.sequence,
          "the personal part of the record was changed or taken away, and no record tells of an erasure")
      }
    }
    for record in unbelieved {
      result.find(
        .tampered, file: record.file, line: record.line, sequence: record.record.sequence,
        "the record vouches for something (\(record.record.kind)), and the anchor neither counted nor announced it")
    }
    if let beginning { checkBeginning(beginning, into: &result) }
    noteSetAside(into: &result)
    for alarm in alarms where alarm.record.sequence > acknowledgedThrough {
      result.find(
        .tampered, file: alarm.file, line: alarm.line, sequence: alarm.record.sequence,
        "nobody has acknowledged this alarm: " + alarm.record.alarmText, isAlarm: true)
    }
    let acknowledged = alarms.filter { $0.record.sequence <= acknowledgedThrough }
    for alarm in acknowledged {
      result.notes.append(
        "record \(alarm.record.sequence): an alarm that was acknowledged: \(alarm.record.alarmText)")
    }
    checkAnchor(snapshot, into: &result)
    checkHost(place, into: &result)
    if let tip {
      result.head = LogHead(
        host: lastHost ?? place.host, log: anchor?.log ?? log, sequence: tip.sequence, hash: tip.hash, time: lastTime)
    }
    checkHeads(into: &result)
  }

  private func checkBeginning(
    _ beginning: (sequence: UInt64, previous: [UInt8], file: String), into result: inout AuditVerification
  ) {
    let last = checkpoints.last { UInt64(max(0, $0.fields["through"]?.integerValue ?? 0)) + 1 >= beginning.sequence }
    guard let last, let through = last.fields["through"]?.integerValue else {
      result.find(
        .incomplete, file: beginning.file, line: 1, sequence: beginning.sequence,
        "the log begins here: records 1 to \(beginning.sequence - 1) are missing, and no checkpoint vouches for them")
      return
    }
    if UInt64(through) + 1 == beginning.sequence,
      last.fields["hash"]?.stringValue != HexText.encode(beginning.previous)
    {
      result.find(
        .tampered, file: beginning.file, line: 1, sequence: beginning.sequence,
        "the log begins here with another record before it than checkpoint \(last.sequence) says")
      return
    }
    result.notes.append(
      last.kind == "audit.set-aside"
        ? "complete from record \(beginning.sequence) on: record \(last.sequence) tells of those that were set aside"
        : "complete from record \(beginning.sequence) on: checkpoint \(last.sequence) tells of those that were removed")
  }

  /// What did not verify stays told of for as long as the record of it is there.
  private func noteSetAside(into result: inout AuditVerification) {
    for record in checkpoints where record.kind == "audit.set-aside" {
      func text(_ name: String) -> String {
        record.fields[name]?.stringValue ?? record.fields[name]?.dictionaryValue?["cut"]?.stringValue ?? ""
      }
      result.notes.append(
        "record \(record.sequence): the log before it did not verify (\(text("finding"))) and is in \(text("folder")), where "
          + "SHA256SUMS has the digest \(text("digest")): \(text("reason"))")
    }
  }

  private func checkAnchor(_ snapshot: LogSnapshot, into result: inout AuditVerification) {
    guard let anchor else {
      if snapshot.anchorFault == nil {
        if case .damaged = snapshot.anchor {
          result.find(.incomplete, "the anchor is damaged: completeness unknown")
        } else {
          result.find(.incomplete, "no anchor: completeness unknown")
        }
      }
      if result.records == 0 { result.find(.incomplete, "there are no records") }
      return
    }
    if let log, log != anchor.log {
      result.find(.tampered, "the log is another one than the anchor's: \(log), not \(anchor.log)")
    }
    let end = tip?.sequence ?? 0
    if isBlind, tip == nil { return }
    if anchor.alarm > 0, !result.findings.contains(where: { $0.sequence == anchor.alarm }) {
      result.find(
        .tampered, sequence: anchor.alarm, "the anchor remembers an alarm that nobody has acknowledged",
        isAlarm: true)
    }
    if end < anchor.tip.sequence {
      let after = lastLine.map { "after \($0.file), line \($0.line)" } ?? "in the log's folder"
      result.find(
        .tampered, file: lastLine?.file, line: lastLine?.line, sequence: tip?.sequence,
        "expected \(anchor.tip.sequence) records, found \(end): the newest are missing \(after)")
    } else if anchor.tip.sequence > 0, let hash = seen[anchor.tip.sequence], hash != anchor.tip.hash {
      result.find(
        .tampered, sequence: anchor.tip.sequence,
        "record \(anchor.tip.sequence) is not the one that the anchor counted: the newest records were replaced")
    } else if anchor.tip.sequence > 0, seen[anchor.tip.sequence] == nil, !isBlind {
      result.find(
        .tampered, sequence: anchor.tip.sequence,
        "record \(anchor.tip.sequence), which the anchor counted last, is not there")
    } else if end > anchor.tip.sequence, snapshot.isLocked {
      result.notes.append(
        "the log is \(end - anchor.tip.sequence) ahead of its anchor, as after a crash; the next record settles that")
    }
    if anchor.tip.sequence == 0, end == 0 { result.find(.incomplete, "there are no records") }
    if anchor.dropped > 0 {
      result.notes.append("\(anchor.dropped) records found no room on the disk; no record tells of them yet")
    }
  }

  private func checkHost(_ place: AuditLogPlace, into result: inout AuditVerification) {
    guard let enrolled = place.host, let lastHost, lastHost != enrolled else { return }
    // Between the record of an enrolment and the enrolment itself a crash may have come.
    if let lastEnrolment, [lastEnrolment.fields["from"], lastEnrolment.fields["to"]].contains(.string(enrolled)) {
      return
    }
    result.find(.tampered, "the log is of host \(lastHost), and this host is enrolled as \(enrolled)")
  }

  private func checkHeads(into result: inout AuditVerification) {
    for head in heads {
      if let mine = anchor?.log ?? log, let other = head.log, mine != other {
        result.find(.tampered, "the head that was kept is of another log: \(other), not \(mine)")
      } else if let hash = seen[head.sequence] {
        if hash != head.hash {
          result.find(
            .tampered, sequence: head.sequence, "record \(head.sequence) is not the one that the head has that was kept"
          )
        } else {
          result.notes.append("record \(head.sequence) is the one that the head has that was kept")
        }
      } else if head.sequence > (tip?.sequence ?? 0) {
        result.find(
          .tampered, sequence: head.sequence,
          "the head that was kept counts \(head.sequence) records; the log ends with \(tip?.sequence ?? 0)")
      } else {
        result.find(
          .incomplete, sequence: head.sequence,
          "record \(head.sequence), which the head has that was kept, is not there")
      }
    }
  }
}

extension StoredRecord {
  /// The words of an `audit.alarm`.
  var alarmText: String {
    AlarmText.text(
      fields["reason"]?.stringValue ?? "", expected: (fields["expected"]?.integerValue).map { UInt64(max(0, $0)) },
      found: UInt64(max(0, fields["found"]?.integerValue ?? 0)))
  }
}
