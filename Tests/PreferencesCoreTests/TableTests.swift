import CReaderEpoch
import PropertyList
import Testing

@testable import PreferencesCore

@Suite struct TableTests {
  static let values: [PropertyListValue] = [
    true, false, 0, -1, .integer(PropertyListInteger(Int64.min)), .integer(PropertyListInteger(Int64.max)),
    .integer(PropertyListInteger(UInt64.max)), 1.5, .real(.nan), .real(-0.0), "", "text",
    .string(String(repeating: "long ", count: 100_000)), "päivää",
    .date(PropertyListDate(secondsSinceReferenceDate: 0.25)), .data([0, 255]), .data([]), .array([1, "a"]),
    .dictionary(["k": .array([])]),
  ]

  private func put(_ table: SlotTable, _ key: String, _ value: PropertyListValue?, _ layer: Layer = .application) {
    var key = key
    key.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      let hash = KeyHash.hash(bytes)
      if let value {
        TableValue.with(value) { table.put(hash, bytes, layer: layer, $0) }
      } else {
        table.put(hash, bytes, layer: layer, .absent)
      }
    }
  }

  private func find(_ table: SlotTable, _ key: String) -> TableEntry? {
    var key = key
    return key.withUTF8 { table.find(KeyHash.hash(UnsafeRawBufferPointer($0)), UnsafeRawBufferPointer($0)) }
  }

  @Test(arguments: values.indices) func keepsEveryKindOfValue(index: Int) {
    let table = SlotTable(capacity: 4)
    put(table, "key", Self.values[index], .suite)
    #expect(find(table, "key")?.value == Self.values[index])
    #expect(find(table, "key")?.description.layer == .suite)
    #expect(find(table, "kex") == nil)
  }

  @Test func theLatestValueCounts() {
    let table = SlotTable(capacity: 64)
    for round in 0..<4 { for key in 0..<10 { put(table, "key\(key)", .integer(PropertyListInteger(round))) } }
    put(table, "key3", nil)
    #expect(find(table, "key7")?.value == 3)
    #expect(find(table, "key3")?.kind == .absent)
    #expect(table.live == 10)
    let compacted = table.compacted()
    #expect(compacted.filled == 10)
    #expect(find(compacted, "key9")?.value == 3)
    #expect(find(compacted, "key3")?.kind == .absent)
  }

  @Test func growsWhileItIsFilled() {
    let table = SlotTable(capacity: 1)
    for number in 0..<5000 {
      var key = "key\(number)"
      key.withUTF8 { bytes in
        table.putFirst(UnsafeRawBufferPointer(bytes), layer: .forced) { .scalar(.signed, UInt64(number)) }
        table.putFirst(UnsafeRawBufferPointer(bytes), layer: .registration) { .scalar(.signed, 0) }
      }
    }
    #expect((0..<5000).allSatisfy { find(table, "key\($0)")?.value == .integer(PropertyListInteger($0)) })
    #expect(find(table, "key5000") == nil)
    var visited = 0
    table.visit { _, _, entry in visited += entry.isForced ? 1 : 0 }
    #expect(visited == 5000)
  }

  @Test(arguments: 0..<70) func keysOfAllLengthsDiffer(length: Int) {
    let key = String((0..<length).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
    let table = SlotTable(capacity: 80)
    put(table, key, "itself")
    for place in 0..<length {
      var other = Array(key.utf8)
      other[place] = 0x21
      #expect(find(table, String(decoding: other, as: UTF8.self)) == nil)
    }
    #expect(find(table, key)?.value == "itself")
    #expect(find(table, key + "x") == nil)
  }

  @Test func aSlotIsACacheLine() {
    #expect(MemoryLayout<TableSlot>.stride == TableSlot.size)
    #expect(TableSlot.keyOffset + TableSlot.inlineKeySize == TableSlot.size)
  }

  @Test func kindsAreTheTagsThatReadersTakeThemFor() {
    for raw in UInt8(0)...8 {
      #expect(SlotDescription(UInt64(raw)).kind == SlotKind(rawValue: raw))
    }
    #expect(SlotKind(rawValue: 9) == nil)
  }

  @Test func layersStandInTheDocumentedOrder() {
    #expect(
      Layer.allCases.map(\.rawValue) == [
        "forced", "argument", "roaming", "application-host", "application", "suite-host", "suite", "global-host",
        "global", "any-user", "language", "recommended", "registration",
      ])
    #expect(Layer.allCases.map(\.order) == Array(0..<13))
  }
}
