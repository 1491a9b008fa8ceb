import CPostgreSQL

/// What one statement answered, in binary. The memory is libpq's until this goes.
final class Rows {
  private let result: OpaquePointer
  let count: Int

  /// - Parameter result: becomes this object's.
  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
  }

  deinit { PQclear(result) }

  func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) == 1 }

  /// The bytes of a field: of a `bytea`, a text or a UUID.
  func bytes(_ row: Int, _ column: Int) -> [UInt8] {
    let count = Int(PQgetlength(result, Int32(row), Int32(column)))
    guard count > 0, let field = PQgetvalue(result, Int32(row), Int32(column)) else { return [] }
    return field.withMemoryRebound(to: UInt8.self, capacity: count) {
      Array(UnsafeBufferPointer(start: $0, count: count))
    }
  }

  func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

  /// A `bigint` or an `integer`.
  func integer(_ row: Int, _ column: Int) -> Int64 {
    let bytes = bytes(row, column)
    let negative = bytes.first.map { $0 & 0x80 != 0 } ?? false
    return bytes.reduce(negative ? -1 : 0) { $0 << 8 | Int64($1) }
  }
}
