extension ForcedDomainWriter {
  /// Lays everything out in canonical order, seals it with the checksum, and checks the result as a reader would.
  ///
  /// Domains and keys stand in the order of their bytes, entries of a key by rank, entries of equal rank in the order of
  /// their canonical bytes. Keys and domains without an entry are left out.
  ///
  /// - Throws: ``ForcedDomainError`` for what the format can't hold or what contradicts itself (a condition that names an
  ///   undefined group, a union of strings): nothing is written that a reader would refuse.
  /// - Complexity: O(bytes + keys log keys of a domain).
  public consuming func finish(_ stamp: FileStamp) throws(ForcedDomainError) -> [UInt8] {
    let hostName = addText(stamp.hostName)
    for group in hostGroups { for text in [group.name] + group.patterns { _ = addText(text) } }
    for group in userGroups { for text in [group.name] + group.names + group.unixGroups { _ = addText(text) } }
    for user in resolvedUsers { _ = addText(user.name) }
    if let failure { throw failure }
    precondition(stamp.sourceDigest.isEmpty || stamp.sourceDigest.count == 32, "a digest has 32 bytes")

    let groups = try GroupNumbers(&self)
    keys.forgetIndex()
    let order = WriterOrder(self)
    let counts = sectionCounts(order)
    for count in counts where count > Int(UInt32.max) {
      throw ForcedDomainError(.tooLarge("a section of \(count) records"), at: 0)
    }
    let layout = Layout(counts: counts.map { UInt32($0) })
    guard layout.end <= ForcedDomain.maximumByteCount else {
      throw ForcedDomainError(
        .tooLarge("\(layout.end) bytes; the limit is \(ForcedDomain.maximumByteCount)"), at: 0)
    }
    var bytes = [UInt8](repeating: 0, count: layout.end)
    let failure = bytes.withUnsafeMutableBytes { buffer -> ForcedDomainError? in
      var emitter = Emitter(buffer)
      emitHeader(stamp, hostName: hostName, counts: counts, &emitter)
      emitTables(groups, layout, &emitter)
      emitDomains(order, layout, &emitter)
      emitEntries(order, layout, &emitter)
      let sum = Format.checksum(of: UnsafeRawBufferPointer(buffer))
      emitter.at = Format.Header.checksum
      emitter.put(sum)
      do throws(ForcedDomainError) {
        _ = try Validation.check(UnsafeRawBufferPointer(buffer), expecting: FileKinds(kind))
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// The numbers of groups by the texts of their names.
  struct GroupNumbers {
    var hosts: [UInt32: UInt32] = [:]
    var users: [UInt32: UInt32] = [:]

    init(_ writer: inout ForcedDomainWriter) throws(ForcedDomainError) {
      for (index, group) in writer.hostGroups.enumerated() { hosts[writer.addText(group.name)] = UInt32(index) }
      for (index, group) in writer.userGroups.enumerated() { users[writer.addText(group.name)] = UInt32(index) }
      for condition in writer.conditions {
        for atom in condition.hostIncludes + condition.hostExcludes + condition.userIncludes + condition.userExcludes
        where operand(of: atom) == nil {
          throw ForcedDomainError(.damaged("a condition names a group that is not defined"), at: 0)
        }
      }
    }

    func operand(of atom: AtomRecord) -> UInt32? {
      switch atom.kind {
      case Format.AtomKind.hostGroup: hosts[atom.text]
      case Format.AtomKind.userGroup: users[atom.text]
      default: atom.text
      }
    }
  }

  private func sectionCounts(_ order: WriterOrder) -> [Int] {
    let keyBytes = order.keys.reduce(0) { $0 + keys.range(Int($1)).count }
    return [
      texts.bytes.count, texts.count, profiles.count, hostGroups.count,
      hostGroups.reduce(0) { $0 + $1.patterns.count }, userGroups.count,
      userGroups.reduce(0) { $0 + $1.names.count + $1.unixGroups.count + $1.userIDs.count + $1.groupIDs.count },
      resolvedUsers.count, conditions.count,
      conditions.reduce(0) {
        $0 + $1.hostIncludes.count + $1.hostExcludes.count + $1.userIncludes.count + $1.userExcludes.count
      },
      conditions.reduce(0) { $0 + $1.windows.count },
      conditions.reduce(0) { $0 + $1.intervals.reduce(0) { $0 + $1.count } }, keyBytes, order.domains.count,
      order.keys.count, Format.indexCount(forKeys: order.keys.count), strings.count, values.count, entries.count,
      kind.hasProvenance ? entries.count : 0, annex.count,
    ]
  }

  private func emitHeader(_ stamp: FileStamp, hostName: UInt32, counts: [Int], _ emitter: inout Emitter) {
    emitter.put(Format.magic)
    emitter.put(Format.version)
    emitter.put(stamp.minimumReaderVersion)
    emitter.put(kind.rawValue)
    emitter.put(UInt8(stamp.sourceDigest.count))
    emitter.put(UInt16(0))
    emitter.put(UInt64(emitter.buffer.count))
    emitter.put(UInt64(0))
    emitter.put(stamp.generation)
    emitter.put(stamp.serial)
    emitter.put(stamp.horizon.lowerBound)
    emitter.put(stamp.horizon.upperBound)
    emitter.put(stamp.sourceDigest)
    emitter.at = Format.Header.hostName
    emitter.put(hostName)
    emitter.put(UInt32(0))
    for count in counts { emitter.put(UInt32(count)) }
  }

  private mutating func emitTables(_ groups: GroupNumbers, _ layout: Layout, _ emitter: inout Emitter) {
    emitter.at = layout.texts.offset
    emitter.put(texts.bytes)
    emitter.at = layout.textEnds.offset
    for number in 0..<texts.count { emitter.put(texts.end(number)) }
    emitter.at = layout.profiles.offset
    for profile in profiles { emitter.put([profile.id, profile.title, profile.owner]) }

    var patterns: [UInt32] = []
    emitter.at = layout.hostGroups.offset
    for group in hostGroups {
      patterns += group.patterns.map { addText($0) }
      emitter.put([addText(group.name), UInt32(patterns.count)])
    }
    emitter.at = layout.hostPatterns.offset
    emitter.put(patterns)

    var items: [UInt32] = []
    emitter.at = layout.userGroups.offset
    for group in userGroups {
      emitter.put(addText(group.name))
      for part in [
        group.names.map { addText($0) }, group.unixGroups.map { addText($0) }, group.userIDs, group.groupIDs,
      ] {
        items += part
        emitter.put(UInt32(items.count))
      }
    }
    emitter.at = layout.userGroupItems.offset
    emitter.put(items)
    emitter.at = layout.resolvedUsers.offset
    for user in resolvedUsers {
      emitter.put([addText(user.name), user.userID ?? 0, user.userID == nil ? 0 : 1])
    }
    emitConditions(groups, layout, &emitter)
    emitter.at = layout.strings.offset
    emitter.put(strings)
    emitter.at = layout.values.offset
    emitter.put(values)
    emitter.at = layout.annex.offset
    emitter.put(annex)
  }

  private func emitConditions(_ groups: GroupNumbers, _ layout: Layout, _ emitter: inout Emitter) {
    var atoms: [UInt32] = []
    var windowCount = 0
    emitter.at = layout.conditions.offset
    for condition in conditions {
      emitter.put(condition.flags | condition.outer << Format.ConditionFlag.outerShift)
      for part in [
        condition.hostIncludes, condition.hostExcludes, condition.userIncludes, condition.userExcludes,
      ] {
        for atom in part {
          atoms.append(atom.kind)
          atoms.append(groups.operand(of: atom) ?? 0)
        }
        emitter.put(UInt32(atoms.count / 2))
      }
      windowCount += condition.windows.count
      emitter.put(UInt32(windowCount))
      emitter.put(condition.notAfter)
    }
    emitter.at = layout.atoms.offset
    emitter.put(atoms)

    var intervalCount = 0
    emitter.at = layout.windows.offset
    for condition in conditions {
      for (index, window) in condition.windows.enumerated() {
        if kind != .fleet { intervalCount += condition.intervals[index].count }
        emitter.put(window.days)
        emitter.put(
          (window.firstDay == nil ? 0 : Format.WindowFlag.firstDay)
            | (window.lastDay == nil ? 0 : Format.WindowFlag.lastDay))
        emitter.put(UInt16(0))
        emitter.put(UInt16(clamping: window.fromMinute))
        emitter.put(UInt16(clamping: window.toMinute))
        emitter.put(window.firstDay ?? 0)
        emitter.put(window.lastDay ?? 0)
        emitter.put([condition.timeZones[index], 0, UInt32(intervalCount), 0])
      }
    }
    emitter.at = layout.intervals.offset
    for condition in conditions {
      for intervals in condition.intervals {
        for interval in intervals {
          emitter.put(interval.lowerBound)
          emitter.put(interval.upperBound)
        }
      }
    }
  }

  private func emitDomains(_ order: WriterOrder, _ layout: Layout, _ emitter: inout Emitter) {
    emitter.at = layout.domains.offset
    for (domain, keyEnd) in zip(order.domains, order.keyEnds) { emitter.put([domains[domain], UInt32(keyEnd)]) }
    var nameEnd = 0
    emitter.at = layout.keys.offset
    for index in order.keys.indices {
      nameEnd += keys.range(Int(order.keys[index])).count
      emitter.put(UInt32(nameEnd))
      emitter.put(order.forcedEnds[index])
      emitter.put(order.recommendedEnds[index])
    }
    emitter.at = layout.keyNames.offset
    let mask = layout.index.count - 1
    keys.bytes.withUnsafeBytes { bytes in
      var domain = 0
      for index in order.keys.indices {
        while index >= order.keyEnds[domain] { domain += 1 }
        let name = UnsafeRawBufferPointer(rebasing: bytes[keys.range(Int(order.keys[index]))])
        emitter.put(name)
        var slot = Int(truncatingIfNeeded: ByteHash.hash(name, seed: UInt64(domain))) & mask
        while emitter.word4(layout.index.offset + slot * 4) != 0 { slot = (slot + 1) & mask }
        emitter.put(UInt32(index + 1), at: layout.index.offset + slot * 4)
      }
    }
  }

  private func emitEntries(_ order: WriterOrder, _ layout: Layout, _ emitter: inout Emitter) {
    emitter.at = layout.entries.offset
    for index in order.entries {
      let entry = entries[Int(index)]
      emitter.put(entry.priority)
      emitter.put(entry.bits)
      emitter.put(entry.condition)
      emitter.put(entry.profile)
      emitter.put(
        UInt64(entry.section) | UInt64(entry.action) << 8 | UInt64(entry.precision) << 16 | UInt64(entry.tag) << 24)
    }
    guard kind.hasProvenance else { return }
    emitter.at = layout.provenance.offset
    for index in order.entries {
      let place = places[Int(index)]
      let origin = origins[Int(place.origin)]
      emitter.put(origin.file)
      emitter.put(place.line)
      emitter.put(place.column)
      emitter.put(origin.reason)
      emitter.put(origin.owner)
      emitter.put(origin.ticket)
    }
  }
}

/// Writes little-endian words into a buffer of the right size; beyond it is a precondition failure.
struct Emitter {
  let buffer: UnsafeMutableRawBufferPointer
  var at = 0

  init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

  @inline(__always)
  mutating func put<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word) {
    buffer.storeBytes(of: word.littleEndian, toByteOffset: at, as: Word.self)
    at += MemoryLayout<Word>.size
  }

  mutating func put(_ words: [UInt32]) { for word in words { put(word) } }

  mutating func put(_ bytes: [UInt8]) { bytes.withUnsafeBytes { put($0) } }

  /// What stands at an offset: zero where nothing was written yet.
  @inline(__always)
  func word4(_ offset: Int) -> UInt32 { UInt32(littleEndian: buffer.load(fromByteOffset: offset, as: UInt32.self)) }

  @inline(__always)
  func put(_ word: UInt32, at offset: Int) {
    buffer.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= buffer.count - at, "a section larger than its count")
    UnsafeMutableRawBufferPointer(rebasing: buffer[at..<(at + bytes.count)]).copyMemory(from: bytes)
    at += bytes.count
  }
}
