import CPostgreSQL

/// A value for a statement, in the server's binary format.
enum Parameter {
  /// A `bigint`.
  case integer(Int64)
  /// An `integer`.
  case smallInteger(Int32)
  /// A `bytea` or a `uuid`.
  case bytes([UInt8])
  case null
  /// An array of values that are no arrays, each of the type with this number in the server's catalogue.
  case array(ElementType, [Parameter])

  enum ElementType: Int32 {
    case bytes = 17
    case bigint = 20
    case integer = 23
    case uuid = 2950
  }

  /// - Returns: nil for null.
  var encoded: [UInt8]? {
    switch self {
    case .integer(let value): withUnsafeBytes(of: value.bigEndian) { Array($0) }
    case .bytes(let value): value
    case .smallInteger(let value): withUnsafeBytes(of: value.bigEndian) { Array($0) }
    case .null: nil
    case .array(let type, let elements): Self.encoded(elements, of: type)
    }
  }

  /// Of an array: its dimensions, whether it has nulls, the type, the dimension's length and lower bound; then each element with
  /// its length, -1 for null.
  private static func encoded(_ elements: [Parameter], of type: ElementType) -> [UInt8] {
    let values = elements.map(\.encoded)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.reduce(20) { $0 + 4 + ($1?.count ?? 0) })
    func append(_ number: Int32) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
    for number in [1, values.contains { $0 == nil } ? 1 : 0, type.rawValue, Int32(values.count), 1] { append(number) }
    for value in values {
      append(value.map { Int32($0.count) } ?? -1)
      bytes += value ?? []
    }
    return bytes
  }
}

/// One statement with its values, as it goes into a group.
struct Call {
  private enum Kind {
    /// Names the text for later calls of this connection.
    case prepare(name: String, text: String)
    case prepared(name: String)
    case once(text: String)
  }
  private let kind: Kind
  private let parameters: [Parameter]

  private init(_ kind: Kind, _ parameters: [Parameter]) {
    self.kind = kind
    self.parameters = parameters
  }

  static func prepare(_ statement: Statement) -> Call {
    Call(.prepare(name: statement.rawValue, text: statement.text), [])
  }
  static func prepared(_ statement: Statement, _ parameters: Parameter...) -> Call {
    Call(.prepared(name: statement.rawValue), parameters)
  }
  static func once(_ text: String, _ parameters: Parameter...) -> Call { Call(.once(text: text), parameters) }

  /// Puts it into the connection's buffer.
  func send(on handle: OpaquePointer) -> Bool {
    if case .prepare(let name, let text) = kind { return PQsendPrepare(handle, name, text, 0, nil) == 1 }
    let values = parameters.map(\.encoded)
    // One buffer for all, since a pointer to each must stand while libpq copies them. A byte more: no value is at no address.
    let buffer = values.reduce(into: [UInt8](repeating: 0, count: 1)) { $0 += $1 ?? [] }
    let count = Int32(values.count)
    let lengths = values.map { Int32($0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: values.count)
    return buffer.withUnsafeBytes { bytes in
      var next = 1
      let pointers = values.map { value -> UnsafePointer<CChar>? in
        guard let value else { return nil }
        defer { next += value.count }
        return bytes.baseAddress.map { ($0 + (value.isEmpty ? 0 : next)).assumingMemoryBound(to: CChar.self) }
      }
      return switch kind {
      case .prepare: false
      case .prepared(let name): PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 1) == 1
      case .once(let text): PQsendQueryParams(handle, text, count, nil, pointers, lengths, formats, 1) == 1
      }
    }
  }
}
