internal import LinuxFiles
public import PreferencesCore
public import PropertyList

/// A synced store as it is on the disk, read once: for commands that ask, and change nothing.
///
/// A store that is not there is not made. Root reads no other user's store, whose folder that user can fill with links: the
/// application's own file, which holds the same, answers there.
public final class RoamingSnapshot: RoamingLayer {
  /// - Throws: `notRoaming` where the file is there and can't be read.
  @Sendable public static func open(_ place: RoamingPlace) throws(PreferencesFault) -> any RoamingLayer {
    let path = SQLiteBackEnd.path(ofApplication: place.domain, in: place.directory)
    guard let file = try? FileMetadata.of(path, followingLinks: false), file.isRegularFile,
      file.userID == ProcessIdentity.effectiveUserID
    else { return RoamingSnapshot(path, RoamingContents()) }
    var options = SQLiteBackEnd.Options()
    options.anchor = place.anchor
    let backEnd = SQLiteBackEnd(path: path, options: options)
    do throws(BackEndError) {
      let store = StoreID(account: try backEnd.account(), application: place.domain)
      var contents = RoamingContents()
      for record in try backEnd.changes(in: store, after: nil).records {
        guard let bytes = record.value else {
          contents.removed.insert(record.key.text)
          continue
        }
        contents.values[record.key.text] = try? PropertyListCoding.decode(bytes, as: .binary)
      }
      return RoamingSnapshot(path, contents)
    } catch {
      throw .notRoaming("the synced store can't be read", error.description, path: path)
    }
  }

  public let path: String
  public let contents: RoamingContents

  private init(_ path: String, _ contents: RoamingContents) {
    self.path = path
    self.contents = contents
  }

  public func set(_ value: PropertyListValue?, forKey key: String) -> String? { "it was opened to be read only" }
  public func offer(_ value: PropertyListValue?, forKey key: String, _ edit: UnsentEdit) -> RoamingOffer { .notHere }
  public var isFailing: Bool { false }
  public var hasUnsaved: Bool { false }
  public func synchronize() -> Bool { true }
  public func observe(_ handler: @escaping @Sendable () -> Void) {}
}

extension PreferencesFault {
  /// Why a store is not used. The fault has the path: it is not said again.
  static func notRoaming(_ what: String, _ trouble: String, path: String) -> PreferencesFault {
    let place = path + ": "
    let why =
      trouble.utf8.starts(with: place.utf8) ? String(trouble.utf8.dropFirst(place.utf8.count)) ?? trouble : trouble
    return PreferencesFault(.notRoaming, path: path, message: "\(what): \(why)")
  }
}
