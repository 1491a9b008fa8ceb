import ForcedDomain
import PropertyList

/// Evaluates one user's controls stretch by stretch.
struct UserHistoryBuilder {
  private let subject: HistoryReport.Subject
  private var history: UserHistory
  private var numbers: [String: Int] = [:]
  /// The keys that controls are about, by the number of the control.
  private var keys: [Int: Set<PolicyTimeline.Attempt>] = [:]

  init(_ subject: HistoryReport.Subject) {
    self.subject = subject
    history = UserHistory(user: subject.user, userID: subject.userID, notes: [])
  }

  mutating func add(
    _ stretch: PolicyTimeline.Stretch, _ policies: [UInt64: HistoryReport.Policy], attested: TimeSpans
  ) {
    switch stretch.state {
    case .nothing:
      add(stretch.span, nil, ResultCounts(), attested)
      fill(stretch.span, nil, .notApplicable, "nothing was installed")
    case .unknown(let why):
      add(stretch.span, nil, nil, attested)
      fill(stretch.span, nil, .error, why)
    case .inForce(let generation):
      guard case .kept(_, let forced, let provenance)? = policies[generation] else {
        var why = "it is no longer kept"
        if case .unavailable(let text)? = policies[generation] { why = text }
        add(stretch.span, generation, nil, attested)
        fill(stretch.span, generation, .error, "generation \(generation) was in force, but \(why)")
        return
      }
      var start = stretch.span.lowerBound
      while start < stretch.span.upperBound {
        let (controls, next) = controls(forced, provenance, at: start)
        let end = min(max(next ?? stretch.span.upperBound, start + 1), stretch.span.upperBound)
        add(start..<end, generation, ResultCounts(controls.map(\.result)), attested)
        for control in controls { add(control, start..<end, generation) }
        fill(start..<end, generation, .notApplicable, "the policy of generation \(generation) does not have it")
        start = end
      }
    }
  }

  /// The history, whole: also for controls that were named late.
  func finished(_ timeline: PolicyTimeline) -> UserHistory {
    var history = history
    for index in history.controls.indices {
      var control = ControlHistory(
        id: history.controls[index].id, title: history.controls[index].title, severity: history.controls[index].severity
      )
      // What came before it was first named.
      let known = history.controls[index].stretches
      let first = known.first?.span.lowerBound ?? timeline.span.upperBound
      for point in history.points where point.span.lowerBound < first {
        let span = point.span.clamped(to: timeline.span.lowerBound..<first)
        if span.isEmpty { continue }
        let (result, why) = Self.before(point, timeline)
        control.add(
          .init(span: span, generation: point.generation, result: result, why: why, isUnknown: result == .error))
      }
      for stretch in known { control.add(stretch) }
      if let user = subject.userID {
        for key in keys[index] ?? [] {
          control.attempts += timeline.attempts[.init(user: user, domain: key.domain, key: key.key)] ?? 0
        }
      }
      history.controls[index] = control
    }
    return history
  }

  private static func before(_ point: UserHistory.Point, _ timeline: PolicyTimeline) -> (ControlResult, String) {
    if point.counts == nil {
      let state = timeline.stretches.first { $0.span.contains(point.span.lowerBound) }?.state
      if case .unknown(let why)? = state { return (.error, why) }
      return (.error, "generation \(point.generation ?? 0) was in force, but can't be evaluated any more")
    }
    guard let generation = point.generation else { return (.notApplicable, "nothing was installed") }
    return (.notApplicable, "the policy of generation \(generation) does not have it")
  }

  // MARK: Adding

  /// Points are divided where the agent's word begins or ends.
  private mutating func add(_ span: Range<Int64>, _ generation: UInt64?, _ counts: ResultCounts?, _ attested: TimeSpans)
  {
    let open = attested.missing(from: span)
    let served = TimeSpans(open).missing(from: span)
    for (part, isAttested) in (open.map { ($0, false) } + served.map { ($0, true) })
      .sorted(by: { $0.0.lowerBound < $1.0.lowerBound })
    {
      if let last = history.points.last, last.span.upperBound == part.lowerBound, last.generation == generation,
        last.counts == counts, last.isAttested == isAttested
      {
        history.points[history.points.count - 1].span = last.span.lowerBound..<part.upperBound
      } else {
        history.points.append(
          .init(span: part, generation: generation, isAttested: isAttested, counts: counts))
      }
    }
  }

  private mutating func add(_ control: ControlReport, _ span: Range<Int64>, _ generation: UInt64) {
    let number: Int
    if let known = numbers[control.id] {
      number = known
    } else {
      number = history.controls.count
      numbers[control.id] = number
      history.controls.append(ControlHistory(id: control.id, title: "", severity: ""))
    }
    history.controls[number].title = control.title
    history.controls[number].severity = control.severity
    for finding in control.findings {
      keys[number, default: []].insert(
        .init(user: 0, domain: finding.expectation.domain, key: finding.expectation.key))
    }
    history.controls[number].add(
      .init(span: span, generation: generation, result: control.result, why: Self.why(control)))
  }

  /// Controls that have no stretch up to the end of a span get one.
  private mutating func fill(_ span: Range<Int64>, _ generation: UInt64?, _ result: ControlResult, _ why: String) {
    for index in history.controls.indices
    where history.controls[index].stretches.last.map({ $0.span.upperBound < span.upperBound }) ?? true {
      let start = max(span.lowerBound, history.controls[index].stretches.last?.span.upperBound ?? span.lowerBound)
      history.controls[index].add(
        .init(
          span: start..<span.upperBound, generation: generation, result: result, why: why, isUnknown: result == .error))
    }
  }

  // MARK: Evaluating

  private func controls(
    _ forced: ForcedDomain, _ provenance: ForcedDomain, at instant: Int64
  ) -> (controls: [ControlReport], next: Int64?) {
    func evaluation(_ groups: [UInt32]?) -> ControlEvaluation {
      func truth(_ file: ForcedDomain, _ host: HostIdentity?) -> ConditionTruth {
        var context = subject.context(file, host, instant)
        if let groups { context.user.groupIDs = groups }
        return file.truth(in: context)
      }
      return ControlEvaluation(
        provenance: provenance, applicability: truth(provenance, HostIdentity(name: provenance.hostName)),
        policy: (forced, truth(forced, nil)), preferences: nil)
    }
    let present = evaluation(nil)
    var controls = present.controls(unless: subject.failure)
    let unixGroups = Set((provenance.userGroups + forced.userGroups).flatMap(\.groupIDs))
    if subject.failure == nil, !unixGroups.isEmpty {
      let none = evaluation([]).controls()
      let all = evaluation(unixGroups.sorted()).controls()
      for index in controls.indices
      where none[index].result != controls[index].result || all[index].result != controls[index].result {
        let today = controls[index].result
        controls[index].result = .error
        controls[index].exemption = nil
        controls[index].reason =
          "it depends on the Unix groups that \(subject.user) belonged to then, which the log does not have; "
          + "with those of today it would be \(today.word)"
      }
    }
    return (controls, present.nextEdge)
  }

  private static func why(_ control: ControlReport) -> String {
    if let exemption = control.exemption {
      return "exempt until \(exemption.expires.rfc3339): \(exemption.reason) (\(exemption.owner))"
    }
    if let reason = control.reason { return reason }
    return control.findings.filter { $0.problem != nil }.map { finding in
      let key = "\(finding.expectation.domain) \(finding.expectation.key)"
      switch finding.problem {
      case .notForced?: return "\(key): expected \(finding.expectedText); nothing forced it"
      case .unreadable?: return "\(key): expected \(finding.expectedText); \(finding.message ?? "it can't be read")"
      default: return "\(key): expected \(finding.expectedText), was forced to \(finding.valueText)"
      }
    }.joined(separator: "; ")
  }
}
