public import ForcedDomain
import LinuxFiles
import PropertyList

/// That a process is contained, as which application, and what its policy shares with it.
///
/// The law of the redirect, for whoever reads or writes a domain of this user, by whichever way:
///
/// 1. A domain **lives** in its own container where it has one, a group's domain in the group's directory, any other in the
///    user's configuration directory. Everybody who is not contained finds it there.
/// 2. A contained application finds its own domain, and the groups that are shared with it, where they live.
/// 3. Any other domain is foreign: what it reads and writes of it is the file of that name in its own container.
/// 4. Of a domain that it may `read`, it gets what the domain holds where it lives, and only for keys that are not there what
///    it wrote itself: so it always sees the owner's newest value.
/// 5. Of `NSGlobalDomain` it gets what it wrote itself, and for all other keys the user's values.
///
/// Where nothing is foreign, nothing is redirected: files for any user, forced and recommended values are an
/// administrator's, for every program of the host, and the same for everybody.
public struct Containment: Sendable, Hashable {
  /// The application's domain.
  public var identifier: String
  /// Groups whose domain is shared with it.
  public var groups: Set<String>
  /// Foreign domains that it may read.
  public var readable: Set<String>
  /// Whether the process runs in a container that shows it nothing else (`policyctl run`).
  public var isEnforced: Bool

  public init(
    identifier: String, groups: Set<String> = [], readable: Set<String> = [], isEnforced: Bool = false
  ) {
    self.identifier = identifier
    self.groups = groups
    self.readable = readable
    self.isEnforced = isEnforced
  }

  public init(_ grants: ApplicationGrants) {
    self.init(identifier: grants.identifier, groups: Set(grants.groups), readable: Set(grants.read))
  }

  public init(_ container: EnclosingContainer) {
    self.init(
      identifier: container.identifier, groups: Set(container.groups), readable: Set(container.read), isEnforced: true)
  }

  /// Of the container around this process; nil where there is none.
  public static var ofThisProcess: Containment? { EnclosingContainer.current.map { Containment($0) } }

  /// Whether what is done to a domain ends in the container instead. Names are files' names: they are compared byte by byte.
  public func isForeign(_ domain: String) -> Bool {
    !Self.isSame(domain, identifier) && !Self.holds(groups, domain)
  }

  func mayRead(_ domain: String) -> Bool { Self.holds(readable, domain) }

  static func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

  static func holds(_ names: Set<String>, _ name: String) -> Bool { names.contains { isSame($0, name) } }
}

/// A directory of preference files, and how far it is to be trusted.
struct PreferencePlace: Sendable, Hashable {
  let directory: String
  /// The part of the path below which no link is followed, since a contained application can write there; nil where the
  /// directory is the user's own.
  let anchor: String?

  init(_ directory: String, anchor: String? = nil) {
    self.directory = directory
    self.anchor = anchor
  }

  /// The configuration directory in a container's home.
  init(home: String) { self.init(FilePath.join(home, ".config"), anchor: home) }
}

extension ContainerDirectories {
  /// Where a domain lives that has a container or a group's directory; nil for any other.
  func place(ofDomain name: String) -> PreferencePlace? {
    if hasContainer(name) { return PreferencePlace(home: home(ofContainer: name)) }
    return hasGroup(name) ? PreferencePlace(group(name), anchor: group(name)) : nil
  }
}

extension PreferenceLocations {
  var containers: ContainerDirectories { ContainerDirectories(dataDirectory: dataDirectory) }

  /// Where a domain lives (1). One or two system calls.
  func home(ofDomain name: String) -> PreferencePlace {
    if name != GlobalDomain.name, let place = containers.place(ofDomain: name) { return place }
    return PreferencePlace(configurationDirectory)
  }

  /// Where this process writes a domain, and reads it as a rule (1, 2, 3).
  func place(ofDomain name: String) -> PreferencePlace {
    guard let containment else { return home(ofDomain: name) }
    if Containment.holds(containment.groups, name) {
      let directory =
        containment.isEnforced
        ? FilePath.join(EnclosingContainer.groupsDirectory, name) : containers.group(name)
      return PreferencePlace(directory, anchor: directory)
    }
    return place(ofDomain: name, in: containment)
  }

  private func place(ofDomain name: String, in containment: Containment) -> PreferencePlace {
    let place =
      containment.isEnforced
      ? PreferencePlace(configurationDirectory, anchor: homeDirectory)
      : PreferencePlace(home: containers.home(ofContainer: containment.identifier))
    guard let account = accountOfOther else {
      // Where no container could be made, its own domain goes on living where it lived.
      let isOwn = !containment.isEnforced && Containment.isSame(name, containment.identifier)
      return isOwn ? home(ofDomain: name) : place
    }
    return PreferencePlace(FilePath.join(place.directory, "managed-preferences/users/\(account)"), anchor: place.anchor)
  }

  /// The domains that don't live in the configuration directory, as far as this process is to know: for a contained one, the
  /// groups that are shared with it; sorted.
  func movedDomains() throws(FileError) -> [String] {
    if let containment { return containment.groups.sortedByBytes() }
    func names(in directory: String) throws(FileError) -> [String] {
      do throws(FileError) { return try Directory.names(in: directory) } catch {
        if error.errno == .noSuchFile { return [] }
        throw error
      }
    }
    let all = try names(in: containers.containersDirectory) + names(in: containers.groupsDirectory)
    return Set(all.filter { DomainName.fault(in: $0) == nil }).sortedByBytes()
  }

  /// Whether there may be such domains. One system call where there are none.
  var hasMovedDomains: Bool { containment != nil || (try? FileMetadata.of(containers.base)) != nil }

  /// The domains of which this process reads more than its own copy; sorted.
  func sharedDomains() -> [String] {
    guard let containment, accountOfOther == nil else { return [] }
    return containment.readable.union([GlobalDomain.name]).filter { sharedPlace(ofDomain: $0) != nil }.sortedByBytes()
  }

  /// Where this process also reads a domain, and whether that comes before its own copy (4, 5); nil for nearly all.
  func sharedPlace(ofDomain name: String) -> (place: PreferencePlace, comesFirst: Bool)? {
    guard let containment, accountOfOther == nil else { return nil }
    let isGlobal = name == GlobalDomain.name
    guard isGlobal || containment.mayRead(name) && containment.isForeign(name) else { return nil }
    let place = containment.isEnforced ? PreferencePlace(EnclosingContainer.readDirectory) : home(ofDomain: name)
    return (place, !isGlobal)
  }
}
