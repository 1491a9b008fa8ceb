import ForcedDomain
import Glibc
import LinuxFiles
import PreferencesCore

/// Places that are never shared with a contained program: where preferences are, the engine's own files, the kernel's
/// file systems and the sockets of the user's session.
///
/// A path is refused that is one of them, lies in one, or contains one. Both sides are compared without any link, and by
/// what they are as well as by name: a place that is mounted a second time elsewhere is the same place. (The compiler refuses
/// such a path in a policy by its text; here its links have been followed.)
final class PreferencePlaces {
  private struct Place {
    let path: String
    let what: String
    let file: FileIdentity?
  }
  private struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64

    init?(_ path: String) {
      guard let metadata = try? FileMetadata.of(path) else { return nil }
      (device, inode) = (metadata.device, metadata.inode)
    }
  }

  private let user: ContainedUser
  private let installation: Installation
  /// Looked up when something is to be shared: most programs share nothing.
  private lazy var places = findPlaces()

  /// The user's, without any link.
  var home: String { user.realHome }

  init(_ user: ContainedUser, installation: Installation) {
    self.user = user
    self.installation = installation
  }

  private func findPlaces() -> [Place] {
    var places: [Place] = []
    func add(_ path: String, _ what: String) {
      let real = PathText.resolvedAsFarAsThere(path)
      if places.contains(where: { $0.path == real }) { return }
      places.append(Place(path: real, what: what, file: FileIdentity(real)))
    }
    let preferences = "where preferences are kept"
    add(user.configurationDirectory, preferences)
    add(FilePath.join(user.home, ".config"), preferences)
    for data in [user.dataDirectory, FilePath.join(user.home, ".local/share")] {
      add(FilePath.join(data, "managed-preferences"), preferences)
    }
    addLinkedPreferences(&places)
    let states = [EnvironmentVariables.nonEmpty("XDG_STATE_HOME"), FilePath.join(user.home, ".local/state")]
    for state in states.compactMap({ $0 }) {
      add(FilePath.join(state, "managed-preferences"), "where events wait for auditors")
    }
    for root in installation.root.isEmpty ? [""] : ["", installation.root] {
      let its = Installation(root: root)
      for path in [its.configurationDirectory, its.stateDirectory, its.logDirectory, its.runDirectory] {
        add(path, "which belongs to managed preferences")
      }
    }
    for path in ["/run", "/proc", "/sys", "/dev"] { add(path, "which belongs to the system") }
    if let runtime = user.runtimeDirectory { add(runtime, "where the session's sockets are") }
    if let bus = SessionBus.socketPath { add(bus, "the session bus") }
    return places
  }

  /// Preference files that the user keeps elsewhere, behind links (a folder of settings under version control, say).
  private func addLinkedPreferences(_ places: inout [Place]) {
    let own = user.configurationDirectory
    for folder in [own, FilePath.join(own, "ByHost")] {
      for name in (try? Directory.names(in: folder)) ?? [] where name.hasSuffix(".plist") {
        let path = FilePath.join(folder, name)
        guard SymbolicLink.target(of: path) != nil, let real = SymbolicLink.resolved(path) else { continue }
        places.append(Place(path: real, what: "where preferences are kept", file: FileIdentity(real)))
      }
    }
  }

  /// Why a path can't be shared, as it goes on after the path; nil for one that can.
  /// - Parameter path: without any link.
  func refusal(of path: String) -> String? {
    for place in places where PathText.contains(place.path, path) {
      return place.path == path ? "is \(path), \(place.what)" : "lies in \(place.path), \(place.what)"
    }
    for place in places where PathText.contains(path, place.path) { return "contains \(place.path), \(place.what)" }
    var above = path
    while above != "/" {
      if let file = FileIdentity(above), let place = places.first(where: { $0.file == file }) {
        return "lies in \(place.path) by another name, \(place.what)"
      }
      above = FilePath.parent(of: above)
    }
    return nil
  }
}
