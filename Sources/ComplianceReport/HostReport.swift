public import PropertyList

/// What became of one control.
public enum ControlResult: String, Sendable, Hashable, CaseIterable {
  /// Every key has an expected value, and it is forced.
  case pass
  /// A key has another value, or one that nothing forces.
  case fail
  /// An exemption holds: the control is not asked.
  case exempt
  /// Its profile does not concern this host, this user or this time.
  case notApplicable = "not-applicable"
  /// It could not be found out. Counts as bad as a failure, and is no answer.
  case error

  /// For people.
  public var word: String { self == .notApplicable ? "not applicable" : rawValue }
}

/// Everything that was found on one host for one user: the evidence that an auditor gets.
public struct HostReport: Sendable, Hashable {
  /// As it is enrolled.
  public var host: String
  /// In whose place the controls were evaluated.
  public var user: String
  /// nil for a user whom this host does not know.
  public var userID: UInt32?
  /// nil for policies that are not installed.
  public var generation: UInt64?
  /// Of the bundle; nil for policies that are not installed.
  public var serial: UInt64?
  /// SHA-256 of the sources of what was evaluated; empty where that is not known.
  public var sourceDigest: [UInt8]
  /// `installed`, or the folder or bundle that was asked.
  public var source: String
  /// The moment that was asked about, in Unix seconds.
  public var instant: Int64
  /// When the report was made, in Unix seconds.
  public var made: Int64
  public var sources: SourcesState
  public var controls: [ControlReport]
  /// Exemptions that are not applied, with the reason.
  public var idleExemptions: [IdleExemption]
  /// What is wrong with the installation, or with stores that were read.
  public var faults: [String]
  /// What limits the answer.
  public var notes: [String]
  /// Where the control results came from can't be read: nothing here says that the host is in order.
  public var isIncomplete: Bool
  /// The command that mends what is wrong with the host as a whole; nil where nothing is.
  public var next: String?

  public init(
    host: String, user: String, userID: UInt32?, generation: UInt64?, serial: UInt64?, sourceDigest: [UInt8],
    source: String, instant: Int64, made: Int64, sources: SourcesState, controls: [ControlReport] = [],
    idleExemptions: [IdleExemption] = [], faults: [String] = [], notes: [String] = [], isIncomplete: Bool = false,
    next: String? = nil
  ) {
    self.host = host
    self.user = user
    self.userID = userID
    self.generation = generation
    self.serial = serial
    self.sourceDigest = sourceDigest
    self.source = source
    self.instant = instant
    self.made = made
    self.sources = sources
    self.controls = controls
    self.idleExemptions = idleExemptions
    self.faults = faults
    self.notes = notes
    self.isIncomplete = isIncomplete
    self.next = next
  }

  public var counts: ResultCounts { ResultCounts(controls.lazy.map(\.result)) }

  /// Findings whose key is forced to a value of a type that can't be used: the profile is installed, and does nothing.
  public var unusableCount: Int {
    controls.reduce(0) { $0 + $1.findings.count { $0.problem == .unusable } }
  }

  public var verdict: Verdict {
    let verdict = Verdict(counts)
    if isIncomplete { return verdict == .fail ? .fail : .error }
    return sources.isUpdateRefused && verdict != .error ? .fail : verdict
  }
}

/// How the sources on the host compare with what is in force.
public struct SourcesState: Sendable, Hashable {
  /// `match`, `differ`, `absent` or `unknown`.
  public var state: String
  /// One sentence.
  public var text: String
  /// Mistakes in sources that differ: the update that they were meant to be was, or will be, refused.
  public var mistakes: [String]

  public init(state: String, text: String, mistakes: [String] = []) {
    self.state = state
    self.text = text
    self.mistakes = mistakes
  }

  /// The host runs an older generation, because a newer policy has mistakes.
  public var isUpdateRefused: Bool { !mistakes.isEmpty }
}

/// One control with its findings.
public struct ControlReport: Sendable, Hashable {
  public var id: String
  public var title: String
  public var severity: String
  public var references: [String]
  public var profile: ReportedProfile
  public var result: ControlResult
  /// One for each expected key; none for a control that is not applicable.
  public var findings: [ControlFinding]
  /// What an exempt control is exempted by.
  public var exemption: ReportedExemption?
  /// Why it is not applicable.
  public var reason: String?
}

/// A profile by its id and its title.
public struct ReportedProfile: Sendable, Hashable {
  public var id: String
  public var title: String
}

/// An exemption that holds.
public struct ReportedExemption: Sendable, Hashable {
  public var reason: String
  public var owner: String
  public var expires: PropertyListDate
  public var profile: String
}

/// An exemption that does not count here.
public struct IdleExemption: Sendable, Hashable {
  public var control: String
  public var reason: String
  public var owner: String
  public var expires: PropertyListDate
  /// `expired`, or `no such control`.
  public var why: String
}

/// What one expected key was found to be.
public struct ControlFinding: Sendable, Hashable {
  /// What is wrong.
  public enum Problem: String, Sendable, Hashable {
    /// Whatever its value, nothing forces it: the user can change it.
    case notForced = "not-forced"
    /// It is forced to a value that is not expected.
    case wrongValue = "wrong-value"
    /// It is forced to a value of a type that can't be used as it is expected.
    case unusable = "unusable"
    /// It could not be read.
    case unreadable = "unreadable"
  }

  public var expectation: Expectation
  /// What an application reads; nil where no layer has a value.
  public var value: PropertyListValue?
  /// A name of the one table of layers; nil without a value.
  public var layer: String?
  public var isForced: Bool
  /// In rank order.
  public var forcedBy: [ReportedProfile]
  /// The domain that the value was found in: the key's own or `NSGlobalDomain`; nil without a value.
  public var foundIn: String?
  /// The file of the layer, where it has one.
  public var path: String?
  /// The value is never shown.
  public var isSecret: Bool
  /// nil where it is as expected.
  public var problem: Problem?
  /// The problem in one sentence, without its full stop.
  public var message: String?

  /// The value as people read it.
  public var valueText: String {
    guard let value else { return "—" }
    return isSecret ? "(secret)" : value.displayText
  }

  public var expectedText: String { isSecret ? "(secret)" : expectation.text }
}
