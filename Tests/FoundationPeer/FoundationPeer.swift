import Foundation

/// Foundation's own `UserDefaults`, as a process of its own: its stores look for their folder at launch, so a test can't
/// point them elsewhere later.
///
/// `FoundationPeer store` stores `objects` in the domain; `FoundationPeer read` stores nothing. Both print what every getter
/// answers, as JSON. `store-layers` and `read-layers` do the same with `layers` and the standard defaults, whose domain is the
/// name of the program's file.
@main
enum FoundationPeer {
  static let domain = "org.example.Editor"

  static var objects: [String: Any] {
    [
      "string": "text ü \u{1F600}", "empty": "", "yes": "YES", "number text": "12.5", "path": "/hello/world",
      "true": true, "false": false, "one": 1, "negative": -5, "large": 1 << 40, "real": 2.5, "whole real": 3.0,
      "float": Float(3.7), "date": Date(timeIntervalSinceReferenceDate: 694_265_400), "data": Data([0, 1, 255]),
      "array": [1, "two", 3.5, true] as [Any], "strings": ["a", "b"],
      "dictionary": ["a": 1, "b": ["c": false]] as [String: Any],
    ]
  }

  static let suites = ["org.example.Fonts", "org.example.Colours"]

  /// Domains and what is in them: each key's name tells in which, and each value where it comes from.
  static var layers: [String: [String: Any]] {
    let names = ["app": domain, "first": suites[0], "second": suites[1], "global": UserDefaults.globalDomain]
    let keys = [
      "app", "first", "second", "global", "app first", "app global", "first second", "first global", "second global",
      "first second global", "app first second global",
    ]
    var layers: [String: [String: Any]] = [:]
    for (layer, name) in names {
      layers[name] = Dictionary(
        uniqueKeysWithValues: keys.filter { $0.split(separator: " ").contains(Substring(layer)) }.map { ($0, layer) })
    }
    return layers
  }

  static func main() throws {
    guard var defaults = UserDefaults(suiteName: domain) else { exit(69) }
    let verb = CommandLine.arguments.dropFirst().first ?? ""
    var keys = Array(objects.keys) + ["file url", "web url"]
    if verb.hasSuffix("layers") {
      defaults = .standard
      // What corelibs stores for `NSGlobalDomain` goes into a file of that name, which nobody reads.
      let names = verb == "store-layers" ? [domain] + suites : []
      for name in names { defaults.setPersistentDomain(layers[name, default: [:]], forName: name) }
      for suite in suites { defaults.addSuite(named: suite) }
      keys = Set(layers.values.flatMap(\.keys)).sorted()
    } else if verb == "store" {
      for (key, object) in objects { defaults.set(object, forKey: key) }
    }
    guard !verb.hasPrefix("store") || defaults.synchronize() else { exit(74) }
    let answers = Dictionary(uniqueKeysWithValues: keys.map { ($0, Self.answers(defaults, $0)) })
    FileHandle.standardOutput.write(try JSONEncoder().encode(answers))
  }

  /// What each getter of a `UserDefaults` answers for a key.
  static func answers(_ defaults: UserDefaults, _ key: String) -> [String: String] {
    [
      "object": defaults.object(forKey: key).map(text) ?? "nil",
      "string": defaults.string(forKey: key) ?? "nil",
      "array": defaults.array(forKey: key).map(text) ?? "nil",
      "dictionary": defaults.dictionary(forKey: key).map(text) ?? "nil",
      "data": defaults.data(forKey: key).map(text) ?? "nil",
      "stringArray": defaults.stringArray(forKey: key).map(text) ?? "nil",
      "integer": text(defaults.integer(forKey: key)), "float": text(defaults.float(forKey: key)),
      "double": text(defaults.double(forKey: key)), "bool": text(defaults.bool(forKey: key)),
      // corelibs stops the program over data that is no archive.
      "url": key == "data" ? "nil" : defaults.url(forKey: key)?.absoluteString ?? "nil",
    ]
  }

  /// A value with its type, so that `true` and `1` differ.
  static func text(_ value: Any) -> String {
    // corelibs hands out the elements of collections as optionals inside an `Any`.
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.map { text($0.value) } ?? "nil" }
    return switch type(of: value) {
    case is String.Type: "\"\(value)\""
    case is Bool.Type: "boolean \(value)"
    case is Int.Type: "integer \(value)"
    case is Double.Type: "real \(value)"
    case is Float.Type: "real \(Double(value as! Float))"
    case is Date.Type: "date \((value as! Date).timeIntervalSinceReferenceDate)"
    case is Data.Type: "data \([UInt8](value as! Data))"
    default:
      if let elements = value as? [Any] {
        "[" + elements.map(text).joined(separator: ", ") + "]"
      } else if let members = value as? [String: Any] {
        "{" + members.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ") + "}"
      } else {
        "\(type(of: value)) \(value)"
      }
    }
  }
}
