import Foundation
import Synchronization
import Testing

@testable import ManagedPreferences

/// What the tests of corelibs and of GNUstep expect, row by row, where the rows lie beside the package.
///
/// A row is run by the small interpreter below or by a body of its own; a row that is neither run nor listed with a reason
/// fails, so that a new one can't go unnoticed.
@Suite struct OracleTests {
  struct Oracles: Decodable {
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
      var testDescription: String { id }
      let id: String
      let calls: [String]
      let expected: [Expected]
    }
    let assertions: [Row]
  }

  enum Expected: Decodable, Equatable, Sendable {
    case text(String)
    case number(Double)
    case flag(Bool)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let flag = try? container.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else {
        self = .text(try container.decode(String.self))
      }
    }
  }

  static func rows(_ name: String) -> [Oracles.Row] {
    var root = URL(filePath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let file = root.deletingLastPathComponent().appending(path: "shared/oracles/\(name).json")
    guard let data = try? Data(contentsOf: file),
      let oracles = try? JSONDecoder().decode(Oracles.self, from: data)
    else {
      print("SKIPPED: shared data not found (oracles/\(name).json)")
      return []
    }
    return oracles.assertions
  }

  static let corelibsRows = rows("scf-TestUserDefaults")
  static let gnustepRows = rows("gnustep-NSUserDefaults")

  // MARK: - corelibs

  // Without the data there is nothing to hold us against: the rows' absence is printed, and shows as a skipped test.
  @Test(.enabled(if: !corelibsRows.isEmpty, "the oracles lie beside the package"), arguments: corelibsRows)
  func corelibs(_ row: Oracles.Row) throws {
    let defaults = try Sandbox().defaults()
    let isRun = interpret(row, on: defaults) || runOwnBody(row.id, on: defaults)
    #expect(isRun, "no way to run the row \(row.id)")
  }

  /// The rows that are no plain round trip. False for any other.
  private func runOwnBody(_ id: String, on defaults: ManagedDefaults) -> Bool {
    switch id {
    case "scf-create":
      defaults.set(4, forKey: "ourKey")
    case "scf-volatile-roundtrip":
      let now = Date()
      let inner: [String: Any] = ["a": "1", "b": "2", "c": "3", "when": now]
      let domain: [String: Any] = [
        "date": now, "string": "s", "array": [1, 2, 3], "dictionary": inner, "data": Data([1, 2]), "bool": true,
      ]
      defaults.setVolatileDomain(domain, forName: "TestDomain")
      let read = defaults.volatileDomain(forName: "TestDomain")
      #expect(read.count == 6)
      #expect(read["date"] as? Date == now)
      #expect(read["string"] as? String == "s")
      #expect(read["array"] as? [Int] == [1, 2, 3])
      let readInner = read["dictionary"] as? [String: Any]
      #expect(readInner?.count == 4)
      #expect(readInner?["when"] as? Date == now)
      #expect(read["data"] as? Data == Data([1, 2]))
      #expect(read["bool"] as? Bool == true)
    case "scf-persistent-remove-missing":
      defaults.removePersistentDomain(forName: "org.example.D")
      #expect(defaults.persistentDomain(forName: "org.example.D")?.isEmpty != false)
    case "scf-persistent-removed":
      defaults.setPersistentDomain(["a": 1], forName: "org.example.D")
      defaults.removePersistentDomain(forName: "org.example.D")
      #expect(defaults.persistentDomain(forName: "org.example.D")?.isEmpty != false)
    default:
      return false
    }
    return true
  }

  /// Runs rows of the form `set VALUE for key1`, or `register {key1: VALUE}`, then `GETTER(key1)`. False where it can't.
  private func interpret(_ row: Oracles.Row, on defaults: ManagedDefaults) -> Bool {
    guard let first = row.calls.first, let last = row.calls.last, let expected = row.expected.first else {
      return false
    }
    if let value = first.firstMatch(of: /^set (.+) for key1$/)?.1, let object = object(value) {
      defaults.set(object, forKey: "key1")
    } else if let value = first.firstMatch(of: /^register \{key1: (.+)\}$/)?.1, let object = object(value) {
      defaults.register(defaults: ["key1": object])
      defaults.set("saved", forKey: "key1")
      defaults.removeObject(forKey: "key1")
    } else {
      return false
    }
    switch (last, expected) {
    case ("string(key1)", .text(let text)): #expect(defaults.string(forKey: "key1") == text, "\(row.id)")
    case ("url(key1)", .text(let text)):
      #expect(defaults.url(forKey: "key1") == object(Substring(text)) as? URL, "\(row.id)")
    case ("data(key1)", .text(let text)):
      #expect(defaults.data(forKey: "key1") == object(Substring("Data " + text)) as? Data, "\(row.id)")
    case ("integer(key1)", .number(let number)): #expect(defaults.integer(forKey: "key1") == Int(number), "\(row.id)")
    case ("double(key1)", .number(let number)): #expect(defaults.double(forKey: "key1") == number, "\(row.id)")
    case ("float(key1)", .number(let number)): #expect(defaults.float(forKey: "key1") == Float(number), "\(row.id)")
    case ("float(key1)", .text("Float(12.34)")): #expect(defaults.float(forKey: "key1") == 12.34, "\(row.id)")
    case ("double(key1)", .text("Double(Float(12.34)), not 12.34")):
      #expect(defaults.double(forKey: "key1") == Double(Float(12.34)), "\(row.id)")
    case ("bool(key1)", .flag(let flag)): #expect(defaults.bool(forKey: "key1") == flag, "\(row.id)")
    default: return false
    }
    return true
  }

  /// The value that the notation of the rows stands for.
  private func object(_ notation: Substring) -> Any? {
    if let text = notation.firstMatch(of: /^(?:[Ss]tring )?"(.*)"$/)?.1 { return String(text) }
    if let path = notation.firstMatch(of: /^(NSURL|URL|file URL)(?: file)? (.+)$/) {
      let url = URL(fileURLWithPath: String(path.2))
      return path.1 == "NSURL" ? NSURL(fileURLWithPath: url.path) : url
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

  // MARK: - GNUstep

  /// Rows that this class does not answer, and why.
  static let gnustepNotHere: [String: String] = [
    "gs-notify-register": "only changes of persistent domains post here",
    "gs-notify-setvolatile": "only changes of persistent domains post here",
    "gs-notify-removevolatile": "only changes of persistent domains post here",
    "gs-notify-removesuite": "only changes of persistent domains post here",
    "gs-notify-searchlist": "there is no setSearchList",
  ]

  @Test(.enabled(if: !gnustepRows.isEmpty, "the oracles lie beside the package")) func gnustep() throws {
    let defaults = try Sandbox().defaults()
    let count = Mutex(0)
    let token = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
    ) { _ in count.withLock { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(token) }
    // Key-value observing with the options initial and prior (old and new are always there).
    let told = Mutex<[PreferenceChange]>([])
    let observations = ["Bool", "Int", "Str"].map { name in
      defaults.observe("Test Suite \(name)", options: [.initial, .prior]) { change in
        told.withLock { $0.append(change) }
      }
    }
    defer { for observation in observations { observation.cancel() } }
    func last(_ count: Int) -> [PreferenceChange] { told.withLock { Array($0.suffix(count)) } }
    for row in Self.gnustepRows where Self.gnustepNotHere[row.id] == nil {
      // Each row goes on where the one before it ended, with the number of notifications by then.
      switch row.id {
      case "gs-languages":
        #expect(defaults.array(forKey: "NSLanguages") != nil)
      case "gs-set-bool":
        defaults.set(true, forKey: "Test Suite Bool")
        #expect(defaults.bool(forKey: "Test Suite Bool"))
        #expect(defaults.object(forKey: "Test Suite Bool") is NSNumber)
      case "gs-set-bool-kvo-prior":
        let prior = last(2)[0]
        #expect(prior.isPrior && prior.oldValue == nil && prior.newValue == nil)
      case "gs-set-int-kvo":
        defaults.set(34, forKey: "Test Suite Int")
        #expect(last(2).map(\.isPrior) == [true, false])
        #expect(last(2).allSatisfy { $0.oldValue == nil })
        #expect(last(1)[0].newValue as? Int == 34)
      case "gs-set-str":
        defaults.set("SetString", forKey: "Test Suite Str")
        #expect(defaults.string(forKey: "Test Suite Str") == "SetString")
        #expect(defaults.object(forKey: "Test Suite Str") is String)
      case "gs-remove-bool":
        defaults.removeObject(forKey: "Test Suite Bool")
        #expect(defaults.object(forKey: "Test Suite Bool") == nil)
      case "gs-remove-bool-kvo":
        #expect(last(2).map(\.isPrior) == [true, false])
        #expect(last(2).allSatisfy { $0.oldValue as? Bool == true && $0.newValue == nil })
      case "gs-set-nil":
        defaults.set(nil as Any?, forKey: "Test Suite Int")
        #expect(defaults.object(forKey: "Test Suite Int") == nil)
        #expect(last(2)[0].isPrior && last(2)[0].oldValue as? Int == 34)
        #expect(!last(1)[0].isPrior && last(1)[0].newValue == nil)
      default:
        Issue.record("no way to run the row \(row.id)")
      }
      for case .text(let text) in row.expected {
        if let number = text.firstMatch(of: /^notification count (\d+)$/)?.1 {
          #expect(count.withLock { $0 } == Int(number), "\(row.id)")
        }
        if let number = text.firstMatch(of: /^KVO count (\d+)/)?.1 {
          #expect(told.withLock(\.count) == Int(number), "\(row.id)")
        }
      }
    }
  }
}
