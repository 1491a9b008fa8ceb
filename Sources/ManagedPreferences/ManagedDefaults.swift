public import Foundation
internal import PreferencesCore
internal import PropertyList

/// An application's settings, with those that an administrator forces in front.
///
/// A subclass of `UserDefaults` with every open member overridden, so that code that takes a `UserDefaults` takes this and
/// nothing goes past the forced domain:
///
/// ```swift
/// ManagedDefaults.applicationIdentifier = "org.example.Editor"
/// let defaults = ManagedDefaults.standard
/// saveSlider.isEnabled = !defaults.objectIsForced(forKey: "AutoSaveInterval")
/// saveSlider.toolTip = defaults.forcedBy("AutoSaveInterval").first.map { "Set by \($0.title)" }
/// ```
///
/// Getters answer from the first layer that has the key: forced, command line, the synced store for keys that roam, this
/// application's files, suites, `NSGlobalDomain`, files for any user, languages, recommended, registered. They convert as the
/// table of conversions in the documentation says; the types of a property list (boolean, integer, real, …) stay distinct through memory and disk.
/// Setters write the application's file; on a forced key they store what the user wants underneath, without effect until it
/// is released.
///
/// All members may be called from any thread. (Foundation declares `UserDefaults` non-`Sendable` on Linux, which a subclass
/// can't take back.) A value that is not a property list, or an empty key, stops the program with a message that names
/// the key, as the reference's `NSInvalidArgumentException` does.
public final class ManagedDefaults: UserDefaults {
  /// The engine. Every read is one direct call on it; scalars and strings are not bridged.
  let list: SearchList

  /// False while `super.init` runs: corelibs' initializer calls `setVolatileDomain` with its own reading of the command
  /// line, and the argument layer has one already.
  private var isInitialized = false

  /// Whether this is one of the process's instances, which share the registration domain.
  private let sharesRegistration: Bool

  // MARK: - Instances

  /// The application's defaults: the same object at each call, with the suites that were added to it.
  ///
  /// Complexity: one atomic load after the first call.
  public override class var standard: ManagedDefaults { StandardDefaults.current }

  /// Writes what is pending; the next `standard` is a new object with the standard search list. Whoever holds the old one
  /// can go on using it.
  public override class func resetStandardUserDefaults() { StandardDefaults.reset() }

  /// The domain of this application, such as `org.example.Editor`: the one that policies name.
  ///
  /// Set it before anything else of this class is used; without it the domain is the name of the executable's real file.
  /// Setting it after first use, or to a name that is not a domain name, stops the program with a message.
  public static var applicationIdentifier: String {
    get { ApplicationLists.applicationIdentifier }
    set { StandardDefaults.state(applicationIdentifier: newValue) }
  }

  /// Defaults in which a suite takes the application's place; `nil` gives the application's own.
  ///
  /// - Returns: nil, with a line on standard error, for the application's own domain, for `NSGlobalDomain`, and for a name
  ///   that is not a domain name.
  public override init?(suiteName suitename: String?) {
    guard let list = StandardDefaults.makeList(suite: suitename) else { return nil }
    self.list = list
    sharesRegistration = true
    super.init(suiteName: suitename)
    isInitialized = true
  }

  /// The defaults of another account, with what policy forces for it.
  ///
  /// Root reads every account's, and writes nobody else's: files of root's would lock their user out.
  /// - Returns: nil, with a line on standard error, where there is no such account, or its files may not be read.
  public init?(user username: String) {
    guard let list = StandardDefaults.makeList(account: username) else { return nil }
    self.list = list
    sharesRegistration = true
    super.init(suiteName: nil)
    isInitialized = true
  }

  /// Defaults over an engine that is set up already, apart from the process's other instances.
  init(list: SearchList) {
    self.list = list
    sharesRegistration = false
    super.init(suiteName: nil)!
    isInitialized = true
  }

  // MARK: - Getters

  /// The value as a property list holds it, unconverted: `String`, `Int` (`UInt64` above `Int.max`), `Double`, `Bool`,
  /// `Date`, `Data`, `[Any]` or `[String: Any]`, an immutable copy. nil where no layer has the key.
  public override func object(forKey defaultName: String) -> Any? {
    list.value(defaultName).map(FoundationValues.object)
  }

  /// The string, or the text of a number or boolean (`true` is `"1"`); nil for anything else.
  public override func string(forKey defaultName: String) -> String? { list.string(defaultName) }

  public override func array(forKey defaultName: String) -> [Any]? {
    list.array(defaultName)?.map(FoundationValues.object)
  }

  public override func dictionary(forKey defaultName: String) -> [String: Any]? {
    list.dictionary(defaultName)?.mapValues(FoundationValues.object)
  }

  public override func data(forKey defaultName: String) -> Data? { list.data(defaultName).map { Data($0) } }

  /// The array when each element is a string, else nil; numbers are not converted.
  public override func stringArray(forKey defaultName: String) -> [String]? { list.stringArray(defaultName) }

  /// The integer, clamped to `Int`; reals are truncated toward zero, strings read up to their first other character.
  /// 0 where there is none.
  public override func integer(forKey defaultName: String) -> Int { list.integer(defaultName) }

  public override func float(forKey defaultName: String) -> Float { list.float(defaultName) }

  public override func double(forKey defaultName: String) -> Double { list.double(defaultName) }

  /// The boolean; `YES`, `true` and `1` in any case, and numbers other than 0, are true. false where there is none.
  public override func bool(forKey defaultName: String) -> Bool { list.bool(defaultName) }

  /// The URL: a path (`~` expanded) as a file URL, `scheme://…` as that URL, an archived URL from data.
  ///
  /// Looks at the file system to tell a folder from a file, as Foundation's does. File-reference URLs and bookmarks do
  /// not exist on Linux.
  public override func url(forKey defaultName: String) -> URL? { list.url(defaultName).flatMap(FoundationURLs.url) }

  // MARK: - Setters

  /// Stores a property list, or a URL, in the application's file; `nil` removes the key.
  ///
  /// Returns at once; the value is visible to this process at once and on disk within a second.
  public override func set(_ value: Any?, forKey defaultName: String) {
    store(value.map { stored($0, forKey: defaultName, by: "set(_:forKey:)") }, forKey: defaultName)
  }

  public override func set(_ value: Int, forKey defaultName: String) {
    store(.integer(PropertyListInteger(value)), forKey: defaultName)
  }

  public override func set(_ value: Float, forKey defaultName: String) {
    store(.real(Double(value)), forKey: defaultName)
  }

  public override func set(_ value: Double, forKey defaultName: String) { store(.real(value), forKey: defaultName) }

  public override func set(_ value: Bool, forKey defaultName: String) { store(.boolean(value), forKey: defaultName) }

  /// Stores a file URL as its path, abbreviated with `~` below the home folder, and any other as an archived URL.
  /// `nil` removes the key.
  public override func set(_ url: URL?, forKey defaultName: String) {
    store(url.map { FoundationURLs.stored($0, home: list.configuration.homeDirectory) }, forKey: defaultName)
  }

  /// Removes the key from the application's file. What deeper layers have is what is read then.
  public override func removeObject(forKey defaultName: String) { store(nil, forKey: defaultName) }

  /// The one way by which a single key is written.
  func store(_ value: PropertyListValue?, forKey key: String, by member: String = #function) {
    Misuse.refuse(emptyKey: key, by: member)
    if list.set(value, forKey: key) { postDidChange() }
  }

  private func stored(_ value: Any, forKey key: String, by member: String) -> PropertyListValue {
    if let url = FoundationURLs.url(in: value) {
      return FoundationURLs.stored(url, home: list.configuration.homeDirectory)
    }
    do {
      return try FoundationValues.propertyList(value)
    } catch {
      Misuse.stop("\(member): the value for the key \"\(key)\" can't be stored: \(error)")
    }
  }

  private func stored(domain: [String: Any], name: String, by member: String) -> [String: PropertyListValue] {
    do {
      for key in domain.keys { Misuse.refuse(emptyKey: key, by: "\(member) for the domain \(name)") }
      return try FoundationValues.dictionary(domain)
    } catch {
      Misuse.stop("\(member): the domain \(name) can't be stored: \(error)")
    }
  }

  /// Posted on the calling thread, after the change and with no lock held: an observer may call back.
  private func postDidChange() {
    NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: self)
  }

  /// What holds where no other layer has a key, for every instance of this process. Merges key by key, a later call wins;
  /// never written to disk.
  public override func register(defaults registrationDictionary: [String: Any]) {
    var values: [String: PropertyListValue] = [:]
    values.reserveCapacity(registrationDictionary.count)
    for (key, value) in registrationDictionary {
      Misuse.refuse(emptyKey: key, by: "register(defaults:)")
      values[key] = stored(value, forKey: key, by: "register(defaults:)")
    }
    if sharesRegistration {
      RegistrationDomain.register(values)
    } else {
      list.register(values)
    }
  }

  /// Registers what has nothing registered yet, for every instance of this process.
  func registerMissing(_ values: [String: PropertyListValue]) {
    if sharesRegistration {
      RegistrationDomain.registerMissing(values)
    } else {
      list.registerMissing(values)
    }
  }

  /// Writes what is pending, takes in what other processes wrote, and says whether both succeeded.
  @discardableResult
  public override func synchronize() -> Bool { list.synchronize() }

  // MARK: - Forced keys

  /// Whether the value that the getters return is an administrator's: disable the control then.
  ///
  /// Also true for every key when policies are installed on this host and can't be read.
  public override func objectIsForced(forKey key: String) -> Bool { list.isForced(key) }

  /// The same for an application of another domain.
  public override func objectIsForced(forKey key: String, inDomain domain: String) -> Bool {
    list.isForced(key, inDomain: domain)
  }

  /// The profiles that force a key, the one that decides first; several where their elements unite.
  ///
  /// Empty where the key is not forced, and where the forced domain can't be read.
  public func forcedBy(_ key: String) -> [ForcedBy] { list.forcedBy(key).map(ForcedBy.init) }

  // MARK: - Suites and domains

  /// Searches a suite's values behind the application's own, in front of suites added earlier. For this receiver alone.
  ///
  /// The application's own domain, `NSGlobalDomain`, and a name that is no domain name are refused with a line on standard
  /// error.
  public override func addSuite(named suiteName: String) {
    if !list.addSuite(suiteName) { StandardDefaults.logRefusal(ofSuite: suiteName) }
  }

  public override func removeSuite(named suiteName: String) { list.removeSuite(suiteName) }

  /// The union of all layers, the first hit of each key, unconverted. Complexity: O(number of all keys).
  public override func dictionaryRepresentation() -> [String: Any] {
    list.dictionaryRepresentation().mapValues(FoundationValues.object)
  }

  /// The argument and registration domains, the preferred languages' tags, and those of names of one's own; sorted.
  public override var volatileDomainNames: [String] { list.volatileDomainNames }

  /// The contents of a volatile domain; empty when there is none of that name.
  public override func volatileDomain(forName domainName: String) -> [String: Any] {
    list.volatileDomain(forName: domainName)?.mapValues(FoundationValues.object) ?? [:]
  }

  /// Makes a volatile domain: never written to disk, and not searched, unless it takes the name of one that is searched and
  /// was removed.
  ///
  /// A name that exists already stops the program, the argument and registration domains included: nobody replaces a
  /// layer of the search list this way.
  public override func setVolatileDomain(_ domain: [String: Any], forName domainName: String) {
    guard isInitialized else { return }
    let values = stored(domain: domain, name: domainName, by: "setVolatileDomain(_:forName:)")
    guard list.setVolatileDomain(values, forName: domainName) else {
      Misuse.stop(
        "setVolatileDomain(_:forName:): a volatile domain \"\(domainName)\" exists; remove it with "
          + "removeVolatileDomain(forName:) first")
    }
  }

  public override func removeVolatileDomain(forName domainName: String) {
    list.removeVolatileDomain(forName: domainName)
  }

  /// The names of the persistent domains of this user, `NSGlobalDomain` included, per-host files not; sorted.
  public var persistentDomainNames: [String] { list.persistentDomainNames }

  /// This user's file of a domain for any host alone, without forced values; nil when there is nothing in it.
  public override func persistentDomain(forName domainName: String) -> [String: Any]? {
    list.persistentDomain(forName: domainName)?.mapValues(FoundationValues.object)
  }

  /// Replaces a domain's file of this user whole.
  public override func setPersistentDomain(_ domain: [String: Any], forName domainName: String) {
    let values = stored(domain: domain, name: domainName, by: "setPersistentDomain(_:forName:)")
    if list.setPersistentDomain(values, forName: domainName) { postDidChange() }
  }

  /// Removes the contents of a domain's file of this user, in every object of this process that reads it; forced values
  /// stay.
  public override func removePersistentDomain(forName domainName: String) {
    if list.removePersistentDomain(forName: domainName) { postDidChange() }
  }
}
