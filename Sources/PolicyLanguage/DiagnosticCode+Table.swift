extension DiagnosticCode {
  /// Every code: how bad it is, what it means, and what to do about it.
  public static let table: [Row] = reading + decoding + validation + compilation

  private static func error(_ code: DiagnosticCode, _ stage: Stage, _ meaning: String, _ hint: String? = nil) -> Row {
    Row(code: code, severity: .error, meaning: meaning, hint: hint, stage: stage)
  }

  private static func warning(_ code: DiagnosticCode, _ stage: Stage, _ meaning: String, _ hint: String? = nil) -> Row {
    Row(code: code, severity: .warning, meaning: meaning, hint: hint, stage: stage)
  }

  private static let reading: [Row] = [
    error(.unreadableFile, .reading, "a file of the tree can't be read"),
    error(
      .fileTooLarge, .reading, "a file is larger than 16 MiB", "split it: a tree may have any number of files"),
    error(.invalidUTF8, .reading, "the bytes are no UTF-8 text", "save the file as UTF-8"),
    error(.invalidUTF16, .reading, "a file that begins as UTF-16 is none", "save the file as UTF-8"),
    error(.nulByte, .reading, "the text holds a NUL"),
    error(
      .controlCharacter, .reading, "the text holds a character that YAML does not allow",
      "write it as an escape in double quotes, such as \"\\x1b\""),
    error(.syntax, .reading, "this is not YAML"),
    error(.tabIndentation, .reading, "a line is indented with a tab", "indent with spaces"),
    error(.nestingTooDeep, .reading, "lists and mappings are nested more than 64 deep"),
    error(
      .tooManyNodes, .reading, "a file has more than 1,000,000 values once aliases are expanded, or 10,000 documents"),
    error(
      .aliasExpansion, .reading,
      "the aliases of a tree add more than 100,000 values or 4 MiB of text to what is written",
      "write the values out, or say them once in a profile that applies to all"),
    error(.undefinedAlias, .reading, "an alias names an anchor that is not there"),
    error(.recursiveAlias, .reading, "an alias stands inside the value that it means"),
    error(.mergeKey, .reading, "`<<` merge keys are not part of the language", "write the members out"),
    error(
      .localTag, .reading, "a tag that begins with `!` has no meaning here",
      "put a text that begins with '!' in quotes"),
    error(
      .unknownTag, .reading, "a tag that the language does not know",
      "the tags are !!str, !!int, !!float, !!bool, !!timestamp, !!binary, !!seq and !!map"),
    error(.invalidTaggedValue, .reading, "a value is not what its tag says"),
    error(.keyNotString, .reading, "a key is empty, null, a list or a mapping", "keys are plain or quoted text"),
    error(
      .duplicateKey, .reading, "a key occurs twice in one mapping, be it in other code points of the same text",
      "keep one of the two; neither wins by its place"),
    warning(.caseOnlyDifference, .reading, "two keys of one mapping differ in upper and lower case only"),
    error(.combiningMarks, .reading, "a name has more than 30 combining marks in a row"),
    error(.emptyDocument, .reading, "a document holds nothing", "remove it, or write version, kind and contents"),
    error(.moreErrors, .reading, "a file has more than 1,000 errors"),
    warning(.moreWarnings, .reading, "a file has more than 1,000 warnings"),
  ]

  private static let decoding: [Row] = [
    error(.unknownKind, .decoding, "a document is of no known kind", "kinds: Profile, Inventory, Manifest, Tests"),
    error(.unsupportedVersion, .decoding, "a document is of another version", "this release reads version 1"),
    error(.unknownField, .decoding, "a field that the language does not know"),
    error(.missingField, .decoding, "a field that must be there is missing"),
    error(.reservedField, .decoding, "a field that is reserved for a later version", "remove it"),
    error(.wrongType, .decoding, "a field holds a value of another type than it takes"),
    error(.invalidValue, .decoding, "a field holds something else than its choices"),
    error(.emptyField, .decoding, "a field is there, but holds nothing", "give it a value, or remove the field"),
    error(
      .emptySelector, .decoding, "a selection that selects nothing",
      "remove it to mean everything, or say whom it means"),
    error(.emptySection, .decoding, "a section or a domain in it holds nothing", "remove it, or write its contents"),
    error(
      .nullValue, .decoding, "a key has no value, and null is none",
      "to stop forcing a key, list it under `release`; for an empty text write \"\""),
    error(.emptyKey, .decoding, "a key is the empty text"),
    error(
      .integerOutOfRange, .decoding, "an integer does not fit in 64 bits",
      "integers go from -9223372036854775808 to 9223372036854775807; quote it to mean text"),
    error(.realOutOfRange, .decoding, "a real is larger than any that can be stored"),
    error(
      .invalidIdentifier, .decoding, "an id is not in reverse-DNS form", "write it like org.example.lab.exam"),
    error(
      .invalidDomain, .decoding, "a domain name can't be one",
      "a domain has no '/', does not begin with '.', and has at most 216 bytes"),
    error(.invalidHostPattern, .decoding, "a host pattern is malformed"),
    error(.invalidUserName, .decoding, "a user name can't be one", "name users one by one; \"*\" alone means people"),
    error(.invalidTime, .decoding, "a time of day is malformed", "write it like \"09:00\""),
    error(.invalidDate, .decoding, "a date is malformed or does not exist"),
    error(
      .missingOffset, .decoding, "an instant has no offset from UTC", "write it like 2026-12-24T23:59:59+01:00"),
    error(.reversedRange, .decoding, "a range ends before it begins"),
    warning(
      .windowNeverOpens, .decoding, "a time window that never opens: between its dates lies none of its days",
      "correct days or between, or remove the window"),
    error(
      .unscopedOverride, .decoding, "an override is no narrower than its profile",
      "give it hosts, users, during or expires, or move its contents to the profile"),
    error(
      .duringWithContainers, .decoding, "a profile with containers depends on the time",
      "put the containers in a profile of their own, without during"),
    error(.forbiddenPath, .decoding, "a container can't be granted this path"),
    error(.uselessGrant, .decoding, "a container that there can't be, or a grant that shares nothing"),
    error(.cannotRoam, .decoding, "a domain or a key that a synced store can't hold"),
    error(.invalidManifest, .decoding, "a manifest contradicts itself"),
  ]

  private static let validation: [Row] = [
    warning(.emptyTree, .validation, "the folder holds no *.yaml and no *.yml"),
    warning(.emptyProfile, .validation, "a profile says nothing"),
    error(.duplicateIdentifier, .validation, "two profiles have one id", "give each profile an id of its own"),
    error(.secondInventory, .validation, "a tree has two inventories", "keep one inventory"),
    error(.duplicateManifest, .validation, "two manifests describe one domain", "merge them"),
    error(.duplicateControl, .validation, "two controls have one id", "give each control an id of its own"),
    error(.unknownControl, .validation, "an exemption names a control that is not there"),
    error(.undeclaredGroup, .validation, "a group that no inventory declares", "declare it in the inventory"),
    error(.cyclicGroup, .validation, "a group contains itself", "take one of the groups out of the circle"),
    warning(
      .unmatchedPattern, .validation, "a host pattern that matches no host of the inventory",
      "correct the pattern, or add the host to the inventory"),
    warning(
      .neverApplies, .validation,
      "a part that can never hold: its exceptions, or its profile, leave nobody and no time",
      "correct the selection, or remove the part"),
    error(
      .lookalikeName, .validation, "two names of a tree are one text in other code points",
      "write the name alike in all places, in composed form (NFC)"),
    warning(.doubledName, .validation, "a name is listed twice", "remove one of the two"),
    error(
      .unknownTimeZone, .validation, "a time zone that the zone database does not have",
      "write an IANA name like Europe/Berlin"),
    warning(.expiredOverride, .validation, "an override has expired and holds no more", "remove it"),
    warning(.expiredExemption, .validation, "an exemption has expired and holds no more", "remove it"),
    warning(.ambiguousBoolean, .validation, "`yes no on off y n` are text in YAML 1.2"),
    warning(.leadingZero, .validation, "a number with a leading zero, or in octal"),
    warning(.trailingZero, .validation, "a real whose trailing zero is lost"),
    error(.typeMismatch, .validation, "a value is of another type than its manifest says"),
    error(.outOfRange, .validation, "a number outside the range that its manifest gives"),
    error(.notInEnumeration, .validation, "a value that its manifest does not list"),
    error(
      .secretKey, .validation, "a secret key is given a value in a policy",
      "everyone can read what a policy forces; leave the key to the application"),
    warning(.deprecatedKey, .validation, "a key that its manifest calls deprecated"),
    warning(.unknownKey, .validation, "a key that its domain's manifest does not have, but almost"),
    warning(
      .contradictedControl, .validation, "a control fails by what its own profile forces",
      "change the value or the control"),
  ]

  private static let compilation: [Row] = [
    error(
      .conflict, .compilation, "two entries of equal rank that can hold together differ",
      "give one profile a higher priority, or make their hosts disjoint"),
    error(.payloadTooLarge, .compilation, "the compiled policies are more than a bundle can hold"),
  ]

  /// The table as the page Documentation/diagnostics.md.
  public static func documentationPage() -> String {
    var page = """
      # Diagnostics

      Every mistake that `policyctl check`, `compile` and `apply` report, as `path:line:column: severity: message [code]`.
      An error keeps anything from being written; a warning doesn't. Codes never change their meaning.

      This page is made from the table in `Sources/PolicyLanguage/DiagnosticCode+Table.swift`; a test keeps it fresh.

      """
    for stage in Stage.allCases {
      page += "\n## \(stage.rawValue)\n\n| code | severity | meaning | what to do |\n|---|---|---|---|\n"
      for row in table where row.stage == stage {
        page += "| `\(row.code)` | \(row.severity.rawValue) | \(row.meaning) | \(row.hint ?? "–") |\n"
      }
    }
    return page
  }
}
