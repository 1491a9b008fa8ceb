/// The stable name of a kind of mistake, for example `duplicate-key`: what scripts, tests and documentation refer to.
///
/// A code never changes its meaning. ``table`` is the only list; Documentation/diagnostics.md is made from it.
public struct DiagnosticCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }

  /// One row of the table.
  public struct Row: Sendable {
    public let code: DiagnosticCode
    public let severity: Severity
    /// What is wrong, in one line.
    public let meaning: String
    /// What to do, shown below a diagnostic that has no hint of its own.
    public let hint: String?
    public let stage: Stage
  }

  /// Who reports a code.
  public enum Stage: String, Sendable, CaseIterable {
    case reading = "Reading a file"
    case decoding = "Decoding a document"
    case validation = "Validating the tree"
    case compilation = "Compiling"
  }

  /// The table's row; a code that a later room made up without a row counts as an error.
  public var row: Row {
    Self.rows[self] ?? Row(code: self, severity: .error, meaning: "", hint: nil, stage: .compilation)
  }

  private static let rows = Dictionary(uniqueKeysWithValues: table.map { ($0.code, $0) })

  private init(_ name: String) { rawValue = name }

  // Reading a file.
  public static let unreadableFile = Self("unreadable-file")
  public static let fileTooLarge = Self("file-too-large")
  public static let invalidUTF8 = Self("invalid-utf8")
  public static let invalidUTF16 = Self("invalid-utf16")
  public static let nulByte = Self("nul-byte")
  public static let controlCharacter = Self("control-character")
  public static let syntax = Self("syntax")
  public static let tabIndentation = Self("tab-indentation")
  public static let nestingTooDeep = Self("nesting-too-deep")
  public static let tooManyNodes = Self("too-many-nodes")
  public static let aliasExpansion = Self("alias-expansion")
  public static let undefinedAlias = Self("undefined-alias")
  public static let recursiveAlias = Self("recursive-alias")
  public static let mergeKey = Self("merge-key")
  public static let localTag = Self("local-tag")
  public static let unknownTag = Self("unknown-tag")
  public static let invalidTaggedValue = Self("invalid-tagged-value")
  public static let keyNotString = Self("key-not-string")
  public static let duplicateKey = Self("duplicate-key")
  public static let caseOnlyDifference = Self("case-only-difference")
  public static let combiningMarks = Self("combining-marks")
  public static let emptyDocument = Self("empty-document")
  public static let moreErrors = Self("more-errors")
  public static let moreWarnings = Self("more-warnings")

  // Decoding a document.
  public static let unknownKind = Self("unknown-kind")
  public static let unsupportedVersion = Self("unsupported-version")
  public static let unknownField = Self("unknown-field")
  public static let missingField = Self("missing-field")
  public static let reservedField = Self("reserved-field")
  public static let wrongType = Self("wrong-type")
  public static let invalidValue = Self("invalid-value")
  public static let emptyField = Self("empty-field")
  public static let emptySelector = Self("empty-selector")
  public static let emptySection = Self("empty-section")
  public static let nullValue = Self("null-value")
  public static let emptyKey = Self("empty-key")
  public static let integerOutOfRange = Self("integer-out-of-range")
  public static let realOutOfRange = Self("real-out-of-range")
  public static let invalidIdentifier = Self("invalid-identifier")
  public static let invalidDomain = Self("invalid-domain")
  public static let invalidHostPattern = Self("invalid-host-pattern")
  public static let invalidUserName = Self("invalid-user-name")
  public static let invalidTime = Self("invalid-time")
  public static let invalidDate = Self("invalid-date")
  public static let missingOffset = Self("missing-offset")
  public static let reversedRange = Self("reversed-range")
  public static let windowNeverOpens = Self("window-never-opens")
  public static let unscopedOverride = Self("unscoped-override")
  public static let duringWithContainers = Self("during-with-containers")
  public static let forbiddenPath = Self("forbidden-path")
  public static let uselessGrant = Self("useless-grant")
  public static let cannotRoam = Self("cannot-roam")
  public static let invalidManifest = Self("invalid-manifest")

  // Validating the tree.
  public static let emptyTree = Self("empty-tree")
  public static let emptyProfile = Self("empty-profile")
  public static let duplicateIdentifier = Self("duplicate-id")
  public static let secondInventory = Self("second-inventory")
  public static let duplicateManifest = Self("duplicate-manifest")
  public static let duplicateControl = Self("duplicate-control")
  public static let unknownControl = Self("unknown-control")
  public static let undeclaredGroup = Self("undeclared-group")
  public static let cyclicGroup = Self("cyclic-group")
  public static let unmatchedPattern = Self("unmatched-pattern")
  public static let neverApplies = Self("never-applies")
  public static let lookalikeName = Self("lookalike-name")
  public static let doubledName = Self("doubled-name")
  public static let unknownTimeZone = Self("unknown-time-zone")
  public static let expiredOverride = Self("expired-override")
  public static let expiredExemption = Self("expired-exemption")
  public static let ambiguousBoolean = Self("ambiguous-boolean")
  public static let leadingZero = Self("leading-zero")
  public static let trailingZero = Self("trailing-zero")
  public static let typeMismatch = Self("type-mismatch")
  public static let outOfRange = Self("out-of-range")
  public static let notInEnumeration = Self("not-in-enum")
  public static let secretKey = Self("secret-key")
  public static let deprecatedKey = Self("deprecated-key")
  public static let unknownKey = Self("unknown-key")
  public static let contradictedControl = Self("contradicted-control")

  // Compiling.
  public static let conflict = Self("conflict")
  public static let payloadTooLarge = Self("payload-too-large")
}
