public import Foundation
public import Observation
internal import PreferencesCore
internal import Synchronization

/// An application's preferences as an object with typed properties.
///
/// Subclass, declare the properties, done:
///
/// ```swift
/// final class Prefs: Preferences {
///   @Preference var name: String?
///   @Preference var kids: [String] = []
/// }
/// Prefs.sharedInstance.kids.append("Jack")
/// ```
///
/// A property is a key of the object's defaults, its own name unless it is remapped, inherited properties too. It reads what
/// `ManagedDefaults` reads, administrators' values in front, and `$name` tells whether it is forced and by whom.
///
/// All members, and the properties of subclasses, may be used from any thread. The class is not `Sendable`, since a subclass
/// would have to repeat that: where an object itself is passed between isolation domains, rather than asked for as
/// `sharedInstance`, declare the subclass `@unchecked Sendable`. `withObservationTracking` sees reads and changes, whoever
/// makes them.
///
/// What is declared wrongly is not silently kept in memory: a type that can't be stored and a property outside a subclass are
/// compile errors; a property without `@Preference`, an empty key and two properties with one key stop the program when the
/// first object is made.
open class Preferences: Observable {
  /// Where this object's properties are.
  nonisolated(unsafe) public let userDefaults: ManagedDefaults

  /// The `applicationVersion` that was the first to make an object of this domain; nil where none was stated.
  @Preference public final var firstVersionInstalled: String?
  /// The `applicationVersion` that made one last: the running one.
  @Preference public final var lastVersionInstalled: String?

  private let synchronizes = Atomic(true)
  /// Keeps what the `@Preference` declarations refer to.
  private var properties: [AnyObject] = []

  // MARK: - Objects

  /// The one object of the class: the same at each call.
  ///
  /// - Complexity: O(number of the program's preferences classes), without a lock, after the first call.
  public class var sharedInstance: Self { SharedPreferences.instance() }

  /// An object over the class's `userDefaults`. Most programs use `sharedInstance`.
  public required init() {
    userDefaults = Self.userDefaults
    properties = bindProperties()
    migrateIfNeeded()
  }

  /// An object over other defaults.
  public init(userDefaults: ManagedDefaults) {
    self.userDefaults = userDefaults
    properties = bindProperties()
    migrateIfNeeded()
  }

  // MARK: - What a subclass may say otherwise

  /// The defaults in which the properties are: the application's, unless a subclass says otherwise. Asked once an object.
  ///
  /// ```swift
  /// override class var userDefaults: ManagedDefaults { ManagedDefaults(suiteName: "org.example.shared")! }
  /// ```
  open class var userDefaults: ManagedDefaults { .standard }

  /// The key of a property that does not state its own: the property's name.
  open class func key(forProperty property: String) -> String { property }

  /// Stored properties that are not preferences and are meant not to be. Any other property without `@Preference` stops the
  /// program: it would look like a preference, and be forgotten at exit.
  open class var unstoredProperties: Set<String> { [] }

  /// The application's version, such as `2.1`; nil, where `firstVersionInstalled` and `lastVersionInstalled` are left alone
  /// and nothing is migrated. (A program on Linux has no bundle that would say it.)
  open class var applicationVersion: String? { nil }

  /// Called when an object is made and `lastVersionInstalled` is another than `applicationVersion`, before it is set: at a
  /// user's first launch, and at the first one after an update.
  ///
  /// Where it does not come to its end, the next launch calls it again. Classes that share a domain share the two versions:
  /// one of them migrates, or `key(forProperty:)` gives each its own.
  /// - Parameter version: the one before, nil for a new user.
  open func migrate(from version: String?, to newVersion: String) {}

  // MARK: - Synchronising

  /// Whether each assignment waits until the value is on the disk. True at first; without it the value is there within a
  /// second, by itself, and the assignment returns at once.
  ///
  /// No assignment holds up the program where that can't be had: for another process that has the file locked it waits a tenth
  /// of a second, and not again while that lasts; where the file can't be written it does not wait. The value is read from
  /// memory then and is tried again in the background; `synchronize` tells whether everything is on the disk.
  public final var shouldAutomaticallySynchronize: Bool {
    get { synchronizes.load(ordering: .relaxed) }
    set { synchronizes.store(newValue, ordering: .relaxed) }
  }

  /// Writes what is pending, takes in what other processes wrote, and says whether both succeeded. Waits up to ten seconds for
  /// another process that has the file locked.
  @discardableResult
  public final func synchronize() -> Bool { userDefaults.synchronize() }

  // MARK: - Notification

  /// Posted after each assignment to a property, on the assigning thread, with no lock held, whether the value changed or
  /// not. The object is the preferences object; the user info has the property's name and its key.
  public static let didChangeNotification = Notification.Name("PreferencesDidChangeNotification")
  /// In the user info of `didChangeNotification`: the name of the property, a `String`.
  public static let changedPropertyKey = "PreferencesChangedProperty"
  /// In the user info of `didChangeNotification`: its key in the defaults, a `String`.
  public static let changedKeyKey = "PreferencesChangedKey"

  func didAssign(property: String, key: String) {
    NotificationCenter.default.post(
      name: Self.didChangeNotification, object: self,
      userInfo: [Self.changedPropertyKey: property, Self.changedKeyKey: key])
    if shouldAutomaticallySynchronize { userDefaults.list.writePromptly() }
  }

  private func migrateIfNeeded() {
    guard let version = Self.applicationVersion else { return }
    let last = lastVersionInstalled
    if last == version { return }
    // What a migration assigns reaches the disk together, and the version after it.
    shouldAutomaticallySynchronize = false
    migrate(from: last, to: version)
    if firstVersionInstalled == nil { firstVersionInstalled = last ?? version }
    lastVersionInstalled = version
    shouldAutomaticallySynchronize = true
    userDefaults.list.writePromptly()
  }
}
