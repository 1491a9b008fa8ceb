import Foundation
import Synchronization

@testable import ManagedPreferences
@testable import PreferencesCore

// Preferences classes of the tests. Nothing in them but declarations: no initializer is written.

enum Tool: String, PreferenceValue { case pen, ruler, compass }
enum Theme: String { case light, dark }
enum Level: Int, Codable {
  case low
  case high = 7
}
struct Style: OptionSet { var rawValue: Int }

struct Address: Codable, Equatable {
  var street: String
  var city = "Venice"
  var floor: Int?
}

/// An object with `NSSecureCoding`, as an application's own class has it.
final class Span: NSObject, NSSecureCoding {
  static let supportsSecureCoding = true
  let location: Int
  let length: Int

  init(_ location: Int, _ length: Int) {
    self.location = location
    self.length = length
  }

  init?(coder: NSCoder) {
    location = coder.decodeInteger(forKey: "location")
    length = coder.decodeInteger(forKey: "length")
  }

  func encode(with coder: NSCoder) {
    coder.encode(location, forKey: "location")
    coder.encode(length, forKey: "length")
  }

  override func isEqual(_ object: Any?) -> Bool {
    (object as? Span).map { $0.location == location && $0.length == length } ?? false
  }
}

class BasePrefs: Preferences {
  @Preference var name: String?
  @Preference var kids: [String] = []
}

class SchoolPrefs: BasePrefs {
  @Preference("KEY_TITLE") var title: String = "untitled"
  @Preference var isOpen = true
}

final class Prefs: SchoolPrefs {
  @Preference var count = 5
  @Preference var small: Int8 = 1
  @Preference var large: UInt64 = 2
  @Preference var height: Float = 1.5
  @Preference var width = 2.5
  @Preference var born = Date(timeIntervalSinceReferenceDate: 0)
  @Preference var token = Data([1, 2])
  @Preference var site = URL(string: "https://lab.example/")!
  @Preference var shares: [String: Double] = [:]
  @Preference var matrix: [[Int]] = []
  @Preference var tools: [Tool] = [.pen]
  @Preference var toolOfRoom: [String: Tool] = [:]
  @Preference var theme = Theme.light
  @Preference var style: Style = [Style(rawValue: 2)]
  @Preference var level: Level = .low
  @Preference var address = Address(street: "Main St")
  @Preference var addresses: [Address] = []
  @Preference var identifier = UUID(uuidString: "00000000-0000-0000-0000-000000000001")!
  @Preference var number: NSNumber = 23
  @Preference var span = Span(0, 1)

  @Preference var maybeCount: Int?
  @Preference var maybeFlag: Bool?
  @Preference var maybeDate: Date?
  @Preference var maybeData: Data?
  @Preference var maybeURL: URL?
  @Preference var maybeShares: [String: Double]?
  @Preference var maybeTheme: Theme?
  @Preference var maybeLevel: Level?
  @Preference var maybeAddress: Address?
  @Preference var maybeSpan: Span?
  @Preference var maybeNumber: NSNumber?
  @Preference("maybe.default") var maybeDefault: String? = "default"
}

/// What an observer on any thread gathers.
final class Gathered<Element>: @unchecked Sendable {
  private let lock = Mutex(())
  private var elements: [Element] = []
  func append(_ element: Element) { lock.withLock { _ in elements.append(element) } }
  var all: [Element] { lock.withLock { _ in elements } }
}

/// Keeps the thread that writes in the background from its work meanwhile: what is on the disk then was brought there by the
/// calls of `body`. (Else it may have come first, and an assignment waits a second at most until it is through.)
func withoutBackgroundWriting<R>(_ body: () throws -> R) throws -> R {
  try Engine.shared.writer.gate.withWork { Result { try body() } }.get()
}

/// A new object that does not wait for the disk at each assignment.
func quiet<Object: Preferences>(_ preferences: Object) -> Object {
  preferences.shouldAutomaticallySynchronize = false
  return preferences
}
