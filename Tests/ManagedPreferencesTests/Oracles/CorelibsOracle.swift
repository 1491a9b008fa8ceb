import Foundation

@testable import ManagedPreferences

/// swift-corelibs-foundation's tests of `UserDefaults`. Each row has defaults of its own.
struct CorelibsOracle: Oracle {
  static let file = "scf-TestUserDefaults"

  mutating func observe(_ row: OracleRow) throws -> Set<String>? {
    let sandbox = try Sandbox()
    let defaults = sandbox.defaults()
    switch row.id {
    case "scf-create":
      defaults.set(4, forKey: "ourKey")
      return ["no trap"]
    case "scf-volatile-roundtrip":
      return volatileRoundTrip(defaults)
    case "scf-persistent-remove-missing":
      defaults.removePersistentDomain(forName: "org.example.D")
      return absent(defaults)
    case "scf-persistent-removed":
      defaults.setPersistentDomain(["a": 1], forName: "org.example.D")
      defaults.removePersistentDomain(forName: "org.example.D")
      guard defaults.synchronize() else { return [] }
      return absent(sandbox.defaults())
    default:
      return oneValue(row, defaults)
    }
  }

  private func absent(_ defaults: ManagedDefaults) -> Set<String> {
    defaults.persistentDomain(forName: "org.example.D")?.isEmpty == false ? [] : ["nil, or an empty dictionary"]
  }

  private func volatileRoundTrip(_ defaults: ManagedDefaults) -> Set<String> {
    let now = Date()
    let inner: [String: Any] = ["a": "1", "b": "2", "c": "3", "when": now]
    defaults.setVolatileDomain(
      ["date": now, "string": "s", "array": [1, 2, 3], "dictionary": inner, "data": Data([1, 2]), "bool": true],
      forName: "TestDomain")
    let read = defaults.volatileDomain(forName: "TestDomain")
    let readInner = read["dictionary"] as? [String: Any]
    var seen: Set<String> = ["same number of keys (\(read.count))"]
    if read["date"] as? Date == now { seen.insert("date equal") }
    if read["string"] as? String == "s" { seen.insert("string equal") }
    if read["array"] as? [Int] == [1, 2, 3] { seen.insert("array equal as ints") }
    if readInner?.count == 4, readInner?["b"] as? String == "2", readInner?["when"] as? Date == now {
      seen.insert("dictionary equal (nested date kept)")
    }
    if read["data"] as? Data == Data([1, 2]) { seen.insert("data equal") }
    if read["bool"] as? Bool == true { seen.insert("bool equal") }
    return seen
  }

  /// Rows of the form `set VALUE for key1`, or `register {key1: VALUE}` and `remove "key1"`, then `GETTER(key1)`.
  private func oneValue(_ row: OracleRow, _ defaults: ManagedDefaults) -> Set<String>? {
    guard let first = row.calls.first, let last = row.calls.last else { return nil }
    if let value = first.firstMatch(of: /^set (.+) for key1$/)?.1, let object = object(value) {
      guard row.calls.count == 2 else { return nil }
      defaults.set(object, forKey: "key1")
    } else if let value = first.firstMatch(of: /^register \{key1: (.+)\}$/)?.1, let object = object(value) {
      guard row.calls.count == 3, row.calls[1].hasPrefix("remove \"key1\"") else { return nil }
      defaults.register(defaults: ["key1": object])
      // Something to remove: the row is about what comes out from underneath.
      defaults.set("saved", forKey: "key1")
      defaults.removeObject(forKey: "key1")
    } else {
      return nil
    }
    switch last {
    case "string(key1)": return [defaults.string(forKey: "key1") ?? "nil"]
    case "bool(key1)": return ["\(defaults.bool(forKey: "key1"))"]
    case "integer(key1)": return [OracleRow.text(Double(defaults.integer(forKey: "key1")))]
    case "double(key1)":
      let number = defaults.double(forKey: "key1")
      // The one row about precision says it in words.
      let isFloats = number == Double(Float(12.34)) && number != 12.34
      return [isFloats ? "Double(Float(12.34)), not 12.34" : OracleRow.text(number)]
    case "float(key1)":
      let number = defaults.float(forKey: "key1")
      return [Int(exactly: number).map { "\($0)" } ?? "Float(\(number))"]
    case "url(key1)":
      return [defaults.url(forKey: "key1").map { ($0.isFileURL ? "file URL " : "URL ") + $0.path } ?? "nil"]
    case "data(key1)":
      let bytes = defaults.data(forKey: "key1")?.map { String(format: "%02x", $0) }
      return [bytes?.joined(separator: " ") ?? "nil"]
    default: return nil
    }
  }

  /// The value that the notation of the rows stands for.
  private func object(_ notation: Substring) -> Any? {
    if let text = notation.firstMatch(of: /^(?:[Ss]tring )?"(.*)"$/)?.1 { return String(text) }
    if let path = notation.firstMatch(of: /^(NSURL|URL) file (.+)$/) {
      return path.1 == "NSURL" ? NSURL(fileURLWithPath: String(path.2)) : URL(fileURLWithPath: String(path.2))
    }
    if let bytes = notation.firstMatch(of: /^(NSData|Data) (.+)$/) {
      let hexadecimal = bytes.2 == "00..04" ? "00 01 02 03 04" : bytes.2
      let data = Data(hexadecimal.split(separator: " ").compactMap { UInt8($0, radix: 16) })
      return bytes.1 == "NSData" ? NSData(data: data) : data
    }
    if let number = notation.firstMatch(of: /^Double (.+)$/)?.1 { return Double(number) }
    if let number = notation.firstMatch(of: /^Float (.+)$/)?.1 { return Float(number) }
    if let number = notation.firstMatch(of: /^int (.+)$/)?.1 { return Int(number) }
    if let flag = notation.firstMatch(of: /^bool (.+)$/)?.1 { return Bool(String(flag)) }
    return nil
  }
}
