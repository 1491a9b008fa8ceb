import Foundation

/// A JSON document as a test reads it: by an independent reader.
struct JSON {
  private let value: Any

  init(_ text: String) throws { value = try JSONSerialization.jsonObject(with: Data(text.utf8)) }
  private init(_ value: Any) { self.value = value }

  subscript(_ name: String) -> JSON { JSON((value as? [String: Any])?[name] ?? "(no \(name))") }
  var names: [String] { ((value as? [String: Any])?.keys).map { $0.sorted() } ?? ["(no object)"] }
  var elements: [JSON] { (value as? [Any])?.map(JSON.init) ?? [] }
  var isNull: Bool { value is NSNull }

  /// Strings as they are; `true`, `false`, `null`; numbers in decimal.
  var text: String {
    switch value {
    case let text as String: text
    case is NSNull: "null"
    case let number as NSNumber:
      isBoolean(number) ? (number.boolValue ? "true" : "false") : number.stringValue
    default: "(no scalar)"
    }
  }

  private func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}

extension JSON {
  /// The value as text with sorted names, to compare two of them.
  var canonical: String {
    guard JSONSerialization.isValidJSONObject([value]) else { return "(no JSON)" }
    let data = try? JSONSerialization.data(withJSONObject: [value], options: [.sortedKeys])
    return String(decoding: data ?? Data(), as: UTF8.self)
  }
}
