import HostPatterns

/// Checks a whole file before anything is read from it, so that reading needs no checks and can't fail.
///
/// Nothing that the file says is believed: sections are laid out from their counts and must fill the file exactly; lists
/// store only where each part ends, and ends must ascend, so parts can't overlap, repeat or run over; every number that
/// names a record is held against the count of those records. The work is linear in the file's size, whatever the file
/// says, and the only memory it takes is one bit for each 8 bytes of coded values.
struct Validation {
  let view: DomainView
  let kind: FileKind
  let horizon: Range<Int64>
  private var layout: Layout { view.layout }

  /// - Returns: the layout of a file that may be read.
  static func check(
    _ bytes: UnsafeRawBufferPointer, expecting kinds: FileKinds
  ) throws(ForcedDomainError) -> Layout {
    let validation = try checkTables(bytes, expecting: kinds)
    try validation.domainsAndKeys()
    try validation.index()
    try validation.entriesAndValues()
    try validation.provenance()
    return validation.layout
  }

  /// Checks everything but keys, entries and values: whom and when conditions mean.
  static func checkTables(
    _ bytes: UnsafeRawBufferPointer, expecting kinds: FileKinds
  ) throws(ForcedDomainError) -> Validation {
    let (layout, kind) = try header(bytes, expecting: kinds, checksum: nil)
    try padding(bytes, layout)
    return try checkTables(bytes, layout, kind)
  }

  static func checkTables(
    _ bytes: UnsafeRawBufferPointer, _ layout: Layout, _ kind: FileKind
  ) throws(ForcedDomainError) -> Validation {
    let view = DomainView(bytes: bytes, layout: layout)
    let start = Int64(bitPattern: view.word8(Format.Header.horizonStart))
    let end = Int64(bitPattern: view.word8(Format.Header.horizonEnd))
    guard start <= end else {
      throw ForcedDomainError(.damaged("the horizon ends before it starts"), at: Format.Header.horizonStart)
    }
    let validation = Validation(view: view, kind: kind, horizon: start..<end)
    try validation.texts()
    try validation.groupsAndUsers()
    try validation.conditions()
    try validation.hostPatterns()
    try validation.windows()
    try validation.textExpansion()
    return validation
  }

  /// Checks the header, and the checksum.
  ///
  /// - Parameter checksum: where it is known, and only the header is there.
  static func header(
    _ bytes: UnsafeRawBufferPointer, expecting kinds: FileKinds, checksum: UInt64?
  ) throws(ForcedDomainError) -> (Layout, FileKind) {
    guard bytes.count <= ForcedDomain.maximumByteCount else {
      throw ForcedDomainError(
        .tooLarge("\(bytes.count) bytes; the limit is \(ForcedDomain.maximumByteCount)"), at: 0)
    }
    guard bytes.count >= Format.headerSize else { throw ForcedDomainError(.tooShort, at: bytes.count) }
    let raw = DomainView(bytes: bytes, layout: Layout())
    guard raw.word8(Format.Header.magic) == Format.magic else { throw ForcedDomainError(.notAForcedDomain, at: 0) }
    let versions = raw.word4(Format.Header.version)
    let needed = UInt16(truncatingIfNeeded: versions >> 16)
    guard needed <= Format.version else {
      throw ForcedDomainError(.needsNewerReader(needed), at: Format.Header.minimumReaderVersion)
    }
    let stated = raw.word8(Format.Header.length)
    guard stated == UInt64(bytes.count) else {
      throw ForcedDomainError(.length(stated: stated, actual: UInt64(bytes.count)), at: Format.Header.length)
    }
    guard raw.word8(Format.Header.checksum) == checksum ?? Format.checksum(of: bytes) else {
      throw ForcedDomainError(.checksum, at: Format.Header.checksum)
    }
    func damaged(_ what: String, _ offset: Int) -> ForcedDomainError { ForcedDomainError(.damaged(what), at: offset) }
    guard UInt16(truncatingIfNeeded: versions) >= 1, needed >= 1 else {
      throw damaged("version 0 does not exist", Format.Header.version)
    }
    guard let kind = FileKind(rawValue: raw.byte(Format.Header.kind)) else {
      throw damaged("unknown kind \(raw.byte(Format.Header.kind))", Format.Header.kind)
    }
    guard kinds.contains(FileKinds(kind)) else {
      throw ForcedDomainError(.unexpectedKind(kind), at: Format.Header.kind)
    }
    let digestCount = raw.byte(Format.Header.digestCount)
    guard digestCount == 0 || digestCount == 32 else {
      throw damaged("a digest of \(digestCount) bytes", Format.Header.digestCount)
    }
    let digest = bytes[Format.Header.digest..<Format.Header.hostName]
    guard digestCount == 32 || digest.allSatisfy({ $0 == 0 }) else {
      throw damaged("an absent digest has bytes", Format.Header.digest)
    }
    guard raw.byte(Format.Header.zero16) == 0, raw.byte(Format.Header.zero16 + 1) == 0,
      raw.word4(Format.Header.zero32) == 0
    else { throw damaged("reserved bytes of the header are not zero", Format.Header.zero16) }

    let counts = Layout.Stride.ofSections.indices.map { raw.word4(Format.Header.counts + $0 * 4) }
    let layout = Layout(counts: counts)
    guard layout.end == bytes.count else {
      throw damaged("its sections take \(layout.end) bytes, the file has \(bytes.count)", Format.Header.counts)
    }
    return (layout, kind)
  }

  private static func padding(_ bytes: UnsafeRawBufferPointer, _ layout: Layout) throws(ForcedDomainError) {
    func damaged(_ what: String, _ offset: Int) -> ForcedDomainError { ForcedDomainError(.damaged(what), at: offset) }
    let raw = DomainView(bytes: bytes, layout: layout)
    let counts = Layout.Stride.ofSections.indices.map { raw.word4(Format.Header.counts + $0 * 4) }
    var at = Format.Header.counts + counts.count * 4
    var sectionStart = Format.headerSize
    for (count, stride) in zip(counts, Layout.Stride.ofSections) {
      guard bytes[at..<sectionStart].allSatisfy({ $0 == 0 }) else {
        throw damaged("padding between sections is not zero", at)
      }
      at = sectionStart + Int(count) * stride
      sectionStart = Format.aligned(at)
    }
    guard bytes[at..<sectionStart].allSatisfy({ $0 == 0 }) else {
      throw damaged("padding at the end is not zero", at)
    }
  }

  // MARK: Texts and tables

  private func damaged(_ what: String, _ offset: Int) -> ForcedDomainError {
    ForcedDomainError(.damaged(what), at: offset)
  }

  /// Byte offset of a record, for error messages.
  private func offset(_ table: Table, _ index: Int, _ stride: Int) -> Int { table.offset + index * stride }

  private func text(_ number: Int, of table: Table, _ index: Int, _ stride: Int) throws(ForcedDomainError) {
    guard number < layout.textEnds.count else {
      throw damaged("there is no text \(number)", offset(table, index, stride))
    }
  }

  /// Checks that the ends that records store ascend and that the last is the end of the list they divide.
  private func ends(
    _ table: Table, stride: Int, fields: ClosedRange<Int>, divide total: Int, _ what: StaticString
  ) throws(ForcedDomainError) {
    var last = 0
    for index in 0..<table.count {
      for field in fields {
        let end = view.field(table, index, stride: stride, field)
        guard end >= last, end <= total else {
          throw damaged("\(what) do not ascend", offset(table, index, stride) + field * 4)
        }
        last = end
      }
    }
    guard last == total else { throw damaged("\(what) stop at \(last) of \(total)", table.offset) }
  }

  private func texts() throws(ForcedDomainError) {
    guard isWellFormedUTF8(view.section(layout.texts)) else { throw damaged("a text is no UTF-8", layout.texts.offset) }
    guard layout.textEnds.count >= 1, view.field(layout.textEnds, 0, stride: 4, 0) == 0 else {
      throw damaged("text 0 is not empty", layout.textEnds.offset)
    }
    try ends(layout.textEnds, stride: 4, fields: 0...0, divide: layout.texts.count, "ends of texts")
    let texts = view.section(layout.texts)
    for index in 0..<layout.textEnds.count
    where !texts.isCharacterBoundary(view.field(layout.textEnds, index, stride: 4, 0)) {
      throw damaged("a text is cut inside a character", offset(layout.textEnds, index, 4))
    }
    guard view.word4(Format.Header.hostName) < UInt32(layout.textEnds.count) else {
      throw damaged("there is no text for the host's name", Format.Header.hostName)
    }
  }

  private func groupsAndUsers() throws(ForcedDomainError) {
    let stride = Layout.Stride.self
    for index in 0..<layout.profiles.count {
      for field in 0..<3 {
        try text(
          view.field(layout.profiles, index, stride: stride.profile, field), of: layout.profiles, index, stride.profile)
      }
      guard kind.hasProvenance || view.field(layout.profiles, index, stride: stride.profile, 2) == 0 else {
        throw damaged("a world-readable file names an owner", offset(layout.profiles, index, stride.profile))
      }
    }
    guard kind.hasProvenance || layout.hostGroups.count == 0 else {
      throw damaged("a narrowed file has host groups", layout.hostGroups.offset)
    }
    for index in 0..<layout.hostGroups.count {
      try text(
        view.field(layout.hostGroups, index, stride: stride.hostGroup, 0), of: layout.hostGroups, index,
        stride.hostGroup)
    }
    try ends(
      layout.hostGroups, stride: stride.hostGroup, fields: 1...1, divide: layout.hostPatterns.count,
      "ends of host groups")
    for index in 0..<layout.hostPatterns.count {
      try text(view.field(layout.hostPatterns, index, stride: 4, 0), of: layout.hostPatterns, index, 4)
    }
    try ends(
      layout.userGroups, stride: stride.userGroup, fields: 1...4, divide: layout.userGroupItems.count,
      "ends of user groups")
    for index in 0..<layout.userGroups.count {
      try text(
        view.field(layout.userGroups, index, stride: stride.userGroup, 0), of: layout.userGroups, index,
        stride.userGroup)
      let names =
        view.end(
          layout.userGroups, index - 1, stride: stride.userGroup, 4)..<view.field(
          layout.userGroups, index, stride: stride.userGroup, 2)
      for item in names {
        try text(view.field(layout.userGroupItems, item, stride: 4, 0), of: layout.userGroupItems, item, 4)
      }
    }
    for index in 0..<layout.resolvedUsers.count {
      try text(
        view.field(layout.resolvedUsers, index, stride: stride.resolvedUser, 0), of: layout.resolvedUsers, index,
        stride.resolvedUser)
      let isResolved = view.field(layout.resolvedUsers, index, stride: stride.resolvedUser, 2)
      let id = view.field(layout.resolvedUsers, index, stride: stride.resolvedUser, 1)
      guard isResolved == 1 || (isResolved == 0 && id == 0) else {
        throw damaged("a user is neither resolved nor not", offset(layout.resolvedUsers, index, stride.resolvedUser))
      }
    }
  }

  /// Parses each text that stands as a host pattern, once.
  private func hostPatterns() throws(ForcedDomainError) {
    guard layout.hostPatterns.count > 0 || layout.atoms.count > 0 else { return }
    var seen = [Bool](repeating: false, count: layout.textEnds.count)
    for index in 0..<layout.hostPatterns.count {
      try hostPattern(
        view.field(layout.hostPatterns, index, stride: 4, 0), offset(layout.hostPatterns, index, 4), &seen)
    }
    let stride = Layout.Stride.atom
    for index in 0..<layout.atoms.count
    where view.field(layout.atoms, index, stride: stride, 0) == Int(Format.AtomKind.hostPattern) {
      try hostPattern(view.field(layout.atoms, index, stride: stride, 1), offset(layout.atoms, index, stride), &seen)
    }
  }

  private func hostPattern(_ number: Int, _ offset: Int, _ seen: inout [Bool]) throws(ForcedDomainError) {
    if seen[number] { return }
    seen[number] = true
    guard (try? HostPattern(parsing: view.string(number))) != nil else {
      throw damaged("text \(number) is no host pattern", offset)
    }
  }

  // MARK: Conditions

  private func conditions() throws(ForcedDomainError) {
    let stride = Layout.Stride.condition
    let table = layout.conditions
    guard table.count >= 1 else { throw damaged("condition 0 is missing", table.offset) }
    guard view.slice(table.offset, stride).allSatisfy({ $0 == 0 }) else {
      throw damaged("condition 0 is not 'always'", table.offset)
    }
    try ends(table, stride: stride, fields: 1...4, divide: layout.atoms.count, "ends of atoms")
    try ends(table, stride: stride, fields: 5...5, divide: layout.windows.count, "ends of windows")
    let users = resolvedTexts()
    for index in 0..<table.count {
      let at = offset(table, index, stride)
      let flags = view.conditionFlags(index)
      guard flags & ~Format.ConditionFlag.all == 0 else { throw damaged("unknown parts of a condition", at) }
      let outer = view.outerCondition(index)
      guard outer == 0 || outer < index && view.outerCondition(outer) == 0 else {
        throw damaged("a condition stands within one that can't be around it", at)
      }
      let start = view.end(table, index - 1, stride: stride, 4)
      let hostEnd = view.field(table, index, stride: stride, 2)
      let userEnd = view.field(table, index, stride: stride, 4)
      let hasHosts = flags & Format.ConditionFlag.hosts != 0
      let hasUsers = flags & Format.ConditionFlag.users != 0
      guard (hasHosts || hostEnd == start) && (hasUsers || userEnd == hostEnd) else {
        throw damaged("a condition has atoms of a part that it has not", at)
      }
      guard !hasHosts || kind.hasProvenance else { throw damaged("a narrowed file asks for the host", at) }
      guard flags & Format.ConditionFlag.notAfter != 0 || view.word8(at + 24) == 0 else {
        throw damaged("a condition that does not expire has a time", at)
      }
      for atom in start..<hostEnd { try hostAtom(atom) }
      for atom in hostEnd..<userEnd { try userAtom(atom, resolved: users) }
    }
  }

  private func hostAtom(_ index: Int) throws(ForcedDomainError) {
    let operand = view.field(layout.atoms, index, stride: Layout.Stride.atom, 1)
    let at = offset(layout.atoms, index, Layout.Stride.atom)
    switch UInt32(view.field(layout.atoms, index, stride: Layout.Stride.atom, 0)) {
    case Format.AtomKind.hostPattern:
      guard operand < layout.textEnds.count else { throw damaged("there is no text \(operand)", at) }
    case Format.AtomKind.hostGroup:
      guard operand < layout.hostGroups.count else { throw damaged("there is no host group \(operand)", at) }
    default: throw damaged("unknown kind of host item", at)
    }
  }

  private func userAtom(_ index: Int, resolved: Set<UInt32>) throws(ForcedDomainError) {
    let operand = view.field(layout.atoms, index, stride: Layout.Stride.atom, 1)
    let at = offset(layout.atoms, index, Layout.Stride.atom)
    switch UInt32(view.field(layout.atoms, index, stride: Layout.Stride.atom, 0)) {
    case Format.AtomKind.people:
      guard operand == 0 else { throw damaged("'people' with an operand", at) }
    case Format.AtomKind.userName:
      guard operand < layout.textEnds.count else { throw damaged("there is no text \(operand)", at) }
      // Without its row a name would be nobody's, and whom it excludes or forces would depend on who asks.
      guard kind == .fleet || resolved.contains(UInt32(operand)) else {
        throw damaged("a user's name has no row among the resolved users", at)
      }
    case Format.AtomKind.userGroup:
      guard operand < layout.userGroups.count else { throw damaged("there is no user group \(operand)", at) }
    default: throw damaged("unknown kind of user item", at)
    }
  }

  private func resolvedTexts() -> Set<UInt32> {
    var texts: Set<UInt32> = []
    for index in 0..<layout.resolvedUsers.count {
      texts.insert(UInt32(view.field(layout.resolvedUsers, index, stride: Layout.Stride.resolvedUser, 0)))
    }
    return texts
  }

  private func windows() throws(ForcedDomainError) {
    let stride = Layout.Stride.window
    let table = layout.windows
    try ends(table, stride: stride, fields: 6...6, divide: layout.intervals.count, "ends of intervals")
    guard kind != .fleet || layout.intervals.count == 0 else {
      throw damaged("a payload has expanded windows", layout.intervals.offset)
    }
    for index in 0..<table.count {
      let at = offset(table, index, stride)
      let days = view.byte(at)
      let flags = view.byte(at + 1)
      let minutes = view.word4(at + 4)
      guard days != 0, days <= WeeklyWindow.everyDay, flags <= 3, view.byte(at + 2) == 0, view.byte(at + 3) == 0,
        view.word4(at + 28) == 0
      else { throw damaged("a window with unknown days or bounds", at) }
      guard minutes & 0xFFFF <= UInt32(WeeklyWindow.lastMinute), minutes >> 16 <= UInt32(WeeklyWindow.lastMinute)
      else { throw damaged("a window outside the day", at + 4) }
      guard flags & Format.WindowFlag.firstDay != 0 || view.word4(at + 8) == 0,
        flags & Format.WindowFlag.lastDay != 0 || view.word4(at + 12) == 0
      else { throw damaged("an unbounded window has a bound", at + 8) }
      try text(view.field(table, index, stride: stride, 4), of: table, index, stride)
      guard view.word4(at + 20) == 0 else { throw damaged("reserved bytes of a window are not zero", at + 20) }
      var last = horizon.lowerBound
      for interval in view.end(table, index - 1, stride: stride, 6)..<view.field(table, index, stride: stride, 6) {
        let place = offset(layout.intervals, interval, Layout.Stride.interval)
        let opens = Int64(bitPattern: view.word8(place))
        let closes = Int64(bitPattern: view.word8(place + 8))
        guard opens >= last, closes > opens, closes <= horizon.upperBound else {
          throw damaged("intervals of a window do not ascend within the horizon", place)
        }
        last = closes
      }
    }
  }

  /// Tables may name one text again and again; what they would take in memory, decoded, must stay in proportion.
  private func textExpansion() throws(ForcedDomainError) {
    var total = 0
    func count(_ table: Table, _ stride: Int, _ fields: [Int]) {
      for index in 0..<table.count {
        for field in fields { total += view.text(view.field(table, index, stride: stride, field)).count }
      }
    }
    count(layout.profiles, Layout.Stride.profile, [0, 1, 2])
    count(layout.hostGroups, Layout.Stride.hostGroup, [0])
    count(layout.hostPatterns, 4, [0])
    count(layout.userGroups, Layout.Stride.userGroup, [0])
    count(layout.resolvedUsers, Layout.Stride.resolvedUser, [0])
    count(layout.windows, Layout.Stride.window, [4])
    for index in 0..<layout.userGroups.count {
      let names =
        view.end(
          layout.userGroups, index - 1, stride: Layout.Stride.userGroup, 4)..<view.field(
          layout.userGroups, index, stride: Layout.Stride.userGroup, 2)
      for item in names { total += view.text(view.field(layout.userGroupItems, item, stride: 4, 0)).count }
    }
    for index in 0..<layout.atoms.count {
      let operand = view.field(layout.atoms, index, stride: Layout.Stride.atom, 1)
      switch UInt32(view.field(layout.atoms, index, stride: Layout.Stride.atom, 0)) {
      case Format.AtomKind.hostPattern, Format.AtomKind.userName: total += view.text(operand).count
      case Format.AtomKind.hostGroup:
        total += view.text(view.field(layout.hostGroups, operand, stride: Layout.Stride.hostGroup, 0)).count
      case Format.AtomKind.userGroup:
        total += view.text(view.field(layout.userGroups, operand, stride: Layout.Stride.userGroup, 0)).count
      default: break
      }
    }
    // No overflow: at most 2²⁸ references to texts of at most 2²⁸ bytes.
    guard total <= view.bytes.count * Format.maximumTextExpansion else {
      throw damaged("its tables repeat long texts beyond all proportion", layout.texts.offset)
    }
  }
}
