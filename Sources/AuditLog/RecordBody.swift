import AuditEvents
import PropertyList

/// Writes what a record says: who did it, what was done, and when, as members of a line. One serves one thread.
final class RecordBody {
  private typealias Fields = [String: PropertyListValue]

  private let textBytes: Int
  /// The kind of the record before: `,"kind":"…"`, the names of the fields that it may have, each as `"name":` as well, and
  /// where they are in the record at hand. The records of a group are mostly of one kind.
  private var lastKind: AuditEvent.Kind?
  private let kind = LineBuffer(capacity: 64)
  private var names: [String] = []
  /// Of each name its length and first byte: texts are only compared where these are the same.
  private var signatures: [Int] = []
  private let nameText = LineBuffer(capacity: 256)
  private var nameRanges: [Range<Int>] = []
  private var places: [Fields.Index?] = []
  /// The second that was written last, as text up to its fraction.
  private var second: (number: Double, text: [UInt8]) = (.nan, [])

  init(textBytes: Int) { self.textBytes = textBytes }

  /// `,"kind":"…"`
  func addKind(of record: UnsafePointer<AuditRecord>, to line: LineBuffer) {
    prepare(record.pointee.kind)
    line.add(kind.bytes)
  }

  private func prepare(_ next: AuditEvent.Kind) {
    if next == lastKind { return }
    lastKind = next
    kind.removeAll()
    kind.add(",\"kind\":")
    kind.add(quoted: RecordFields.written(next))
    names = RecordFields.table[next.rawValue] ?? []
    signatures = names.map(Self.signature)
    places = Array(repeating: nil, count: names.count)
    nameText.removeAll()
    nameRanges = names.map { name in
      let start = nameText.count
      nameText.add(quoted: name)
      nameText.add(":")
      return start..<nameText.count
    }
  }

  @inline(__always)
  private static func signature(_ name: String) -> Int { name.utf8.count << 8 | Int(name.utf8.first ?? 0) }

  /// `,"attested":…,"claimed":…,"unattested":…,"fields":…`
  func addMembers(of record: UnsafePointer<AuditRecord>, to line: LineBuffer) {
    if let attested = record.pointee.attested {
      line.add(",\"attested\":")
      add(attested.userID, attested.processID, attested.executable, time: nil, to: line)
    }
    if let claimed = record.pointee.claimed {
      line.add(",\"claimed\":")
      add(claimed.userID, claimed.processID, claimed.executable, time: record.pointee.claimedTime, to: line)
    }
    if let owner = record.pointee.spoolOwner {
      line.add(",\"unattested\":{\"uid\":")
      line.add(decimal: UInt64(owner))
      line.add(record.pointee.isOfUnknownOrigin ? ",\"origin\":\"unknown\"}" : "}")
    }
    prepare(record.pointee.kind)
    line.add(",\"fields\":{")
    let start = line.count
    let fields = record.pointee.fields
    let withheld = findFields(in: fields)
    for (index, place) in places.enumerated() {
      guard let place else { continue }
      if line.count > start { line.add(",") }
      line.add(UnsafeRawBufferPointer(rebasing: nameText.bytes[nameRanges[index]]))
      add(fields[place].value, to: line)
    }
    if withheld > 0 {
      if line.count > start { line.add(",") }
      line.add("\"withheld\":")
      line.add(decimal: UInt64(withheld))
    }
    if line.count - start > AuditLogLimits.fieldsBytes {
      let count = line.count - start
      line.removeAll(from: start)
      line.add("\"cut\":{\"bytes\":")
      line.add(decimal: UInt64(count))
      line.add("}")
    }
    line.add("}")
  }

  /// Puts into `places` where each field of the kind is, or nil.
  /// - Returns: how many fields the kind does not have.
  private func findFields(in fields: Fields) -> Int {
    for index in places.indices { places[index] = nil }
    var withheld = 0
    var place = fields.startIndex
    while place != fields.endIndex {
      let name = fields[place].key
      let signature = Self.signature(name)
      var index = 0
      while index < names.count, signatures[index] != signature || names[index] != name { index += 1 }
      if index < names.count { places[index] = place } else { withheld += 1 }
      fields.formIndex(after: &place)
    }
    return withheld
  }

  private func add(_ value: PropertyListValue, to line: LineBuffer) {
    switch value {
    case .string(let text) where text.utf8.count <= textBytes: line.add(quoted: text)
    case .integer(let number):
      if let small = number.int64 { line.add(decimal: small) } else { line.add(decimal: number.bitPattern) }
    default: line.add(json: RecordFields.cut(value, textBytes, depth: 0))
    }
  }

  private func add(
    _ user: UInt32, _ process: Int32, _ executable: String?, time: PropertyListDate?, to line: LineBuffer
  ) {
    line.add("{\"uid\":")
    line.add(decimal: UInt64(user))
    line.add(",\"pid\":")
    line.add(decimal: Int64(process))
    if let executable {
      line.add(",\"executable\":")
      add(.string(executable), to: line)
    }
    if let time, time.isRepresentable {
      line.add(",\"time\":\"")
      add(time, to: line)
      line.add("\"")
    }
    line.add("}")
  }

  // MARK: Times

  /// RFC 3339 in UTC, to the millisecond.
  static func text(of time: PropertyListDate) -> String {
    let (second, milliseconds) = parts(of: time)
    let fraction = String(milliseconds)
    return PropertyListDate(unixTime: second).rfc3339.dropLast() + "."
      + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction + "Z"
  }

  private static func parts(of time: PropertyListDate) -> (second: Double, milliseconds: UInt64) {
    let milliseconds = (time.unixTime * 1000).rounded()
    let second = (milliseconds / 1000).rounded(.down)
    return (second, UInt64(milliseconds - second * 1000))
  }

  /// The same into a line. The records of a group are mostly of one second.
  func add(_ time: PropertyListDate, to line: LineBuffer) {
    let (number, milliseconds) = Self.parts(of: time)
    if number != second.number {
      second = (number, Array(PropertyListDate(unixTime: number).rfc3339.utf8.dropLast()))
    }
    line.add(second.text)
    line.add(".")
    line.add(decimal: milliseconds, width: 3)
    line.add("Z")
  }
}
