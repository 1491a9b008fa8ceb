import LinuxFiles
public import PropertyList
import Synchronization

/// What a synced store holds of one application, as far as it is known on this machine.
public struct RoamingContents: Sendable, Equatable {
  public var values: [String: PropertyListValue]
  /// Keys that were removed, here or on another machine, as long as the store remembers that.
  public var removed: Set<String>

  public init(values: [String: PropertyListValue] = [:], removed: Set<String> = []) {
    self.values = values
    self.removed = removed
  }

  /// Sets a key, or removes it.
  mutating func set(_ value: PropertyListValue?, forKey key: String) {
    values[key] = value
    if value == nil { removed.insert(key) } else { removed.remove(key) }
  }
}

/// Layer 3 of the search list: the synced store of one application.
///
/// A search list calls all members but `synchronize` under its lock, on any thread, so they work in memory: they never wait
/// for the disk, the network or a thread that does, and never call the handler of `observe` themselves. In the child of a
/// fork, `set` refuses: the store is its parent's.
public protocol RoamingLayer: AnyObject, Sendable {
  /// The store's file on this machine, for evidence.
  var path: String { get }

  /// Everything that is known, what was set a moment ago included.
  var contents: RoamingContents { get }

  /// Sets a key, or removes it (nil). It is in `contents` at once, and reaches the disk and other machines by itself.
  /// - Returns: why the store does not take it, in which case nothing is changed; nil where it does.
  func set(_ value: PropertyListValue?, forKey key: String) -> String?

  /// Saves what was set, takes in what others brought to this machine, and waits for both.
  /// - Returns: false where what was set is not on the disk.
  func synchronize() -> Bool

  /// Offers an edit that was made while the store could not take it: set (or, nil, removed) at `time`, in milliseconds since
  /// 1970, in the place of `before` (see `UnsentEdit`). It stands where the store still has that value or nothing later; else
  /// what the store has stands.
  func offer(_ value: PropertyListValue?, forKey key: String, _ edit: UnsentEdit) -> RoamingOffer

  /// Whether the store could not be reached when it was last tried.
  var isFailing: Bool { get }

  /// Whether something that was set is not on the disk.
  var hasUnsaved: Bool { get }

  /// Says whom to tell after somebody else changed `contents`: another process, another machine, another account; and
  /// when what was set could not be saved. The handler is called on a thread of the store's, with no lock held. One handler; a
  /// later one takes its place.
  func observe(_ handler: @escaping @Sendable () -> Void)
}

/// What became of an edit that was offered to a synced store.
public enum RoamingOffer: Sendable, Equatable {
  /// The store has it, or something later.
  case settled
  /// The store does not take it, with the reason.
  case refused(String)
  /// This process leaves the store to others.
  case notHere
}

/// Where the synced store of a domain lives: beside the domain itself (see `Containment`).
public struct RoamingPlace: Sendable, Hashable {
  /// The application's, which keeps its keys apart from those of others.
  public let domain: String
  /// The directory of the stores' files; it need not be there yet.
  public let directory: String
  /// The part of the path below which no link is to be followed, since a contained application can write there; nil where
  /// the directory is the user's own.
  public let anchor: String?
}

/// Who opens synced stores in this process.
///
/// `PreferencesCore` knows no store. Libraries and commands that bring one say so before they open search lists; where
/// nobody did, keys that roam are answered from the application's own file, which is kept like the store's on each machine
/// where an application runs.
public enum RoamingLayers {
  public typealias Opener = @Sendable (RoamingPlace) throws(PreferencesFault) -> any RoamingLayer

  private static let stated = Mutex<Opener?>(nil)

  public static var opener: Opener? {
    get { stated.withLock { $0 } }
    set { stated.withLock { $0 = newValue } }
  }
}

extension PreferenceLocations {
  /// Where the synced store of a domain lives.
  public func roamingPlace(ofDomain name: String) -> RoamingPlace {
    let place = place(ofDomain: name)
    let directory: String
    if place.anchor == place.directory {
      // A group's directory holds nothing but its domain.
      directory = FilePath.join(place.directory, ".ubiquity")
    } else if let home = place.anchor {
      directory = FilePath.join(home, ".local/share/managed-preferences/ubiquity")
    } else {
      directory = FilePath.join(dataDirectory, "managed-preferences/ubiquity")
    }
    return RoamingPlace(domain: name, directory: directory, anchor: place.anchor)
  }
}
