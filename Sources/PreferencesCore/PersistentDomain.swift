import AuditEvents
import ForcedDomain
public import LinuxFiles
public import PropertyList

/// One persistent domain at one place, for commands and for members that name a domain.
///
/// Nothing is cached and nothing delayed: `read` asks the disk, and `change` returns when the disk has it. Forced values are
/// no part of a persistent domain.
public struct PersistentDomain: Sendable, Hashable {
  public enum User: Sendable, Hashable {
    case current
    /// Below the installation's `defaults/`: for root to write, and read only where nobody else could have written.
    case any
  }

  public enum Host: Sendable, Hashable {
    /// The file that holds on every host.
    case any
    /// The file of this host, by `PreferenceLocations.hostIdentifier`.
    case current
    /// The file of the host with this identifier.
    case named(String)
  }

  let file: PreferenceFile
  /// What a contained application reads as well, and whether that comes first.
  private let sharedFile: (file: PreferenceFile, comesFirst: Bool)?
  private let locations: PreferenceLocations
  /// The domain's name; for a domain by path, the path.
  let name: String

  /// The domain whose file this is; nil for a path that leads elsewhere.
  public let domainName: String?

  public var path: String { file.path }

  /// - Throws: what is wrong with a name that can't be a domain's, or can't be a host's.
  public init(
    _ name: String, user: User = .current, host: Host = .any, in locations: PreferenceLocations
  ) throws(DomainNameFault) {
    if let fault = DomainName.fault(in: name) { throw fault }
    let identifier = Self.identifier(of: host, in: locations)
    if let identifier, let fault = DomainName.fault(in: identifier) { throw fault }
    // Else `a` of the host `b.c` would be `a.b` of the host `c`: another domain's file, with another domain's rules.
    if case .named(let stated) = host, stated.utf8.contains(UInt8(ascii: ".")) { throw .dotInHost(stated) }
    file = locations.file(ofDomain: name, user: user, host: identifier)
    let count = file.name.utf8.count
    if count > FilePath.maximumNameBytes { throw .tooLongWithHost(count) }
    sharedFile = user == .current ? locations.sharedFile(ofDomain: name, host: identifier) : nil
    self.locations = locations
    self.name = name
    domainName = name
  }

  /// A domain by its file's path, with or without `.plist`: the file with the ending, where there is nothing of exactly
  /// this name but a directory (an application's folder and its domain may well be neighbours).
  ///
  /// In one of the directories of `locations` it is the domain of that name, with that domain's lock and rules, and so it
  /// is where links lead to such a file; elsewhere the directory itself is locked while the file is written.
  public init(path: String, in locations: PreferenceLocations = .current()) {
    var path = path
    if !path.hasSuffix(".plist"), (try? FileMetadata.of(path))?.isDirectory ?? true { path += ".plist" }
    let directory = FilePath.parent(of: path)
    let fileName = FilePath.name(of: path)
    name = path
    let known = Self.known(fileName, in: directory, locations) ?? Self.known(behind: path, locations)
    domainName = known?.domain
    file =
      known?.file
      ?? PreferenceFile(directory: directory, name: fileName, anchor: nil, lock: .directory(directory), trust: nil)
    sharedFile = nil
    self.locations = locations
  }

  /// The domains in whose file a change ends up: the one that this is, if it has a name, and the one to whose file a link
  /// leads.
  public func changedDomains(in locations: PreferenceLocations) -> [String] {
    let linked = Self.known(behind: path, locations)?.domain
    return [domainName, linked == domainName ? nil : linked].compactMap { $0 }
  }

  public static func == (a: PersistentDomain, b: PersistentDomain) -> Bool { a.file == b.file && a.name == b.name }

  public func hash(into hasher: inout Hasher) { hasher.combine(file) }

  private var sink: any AuditEventSink { locations.installation.auditSink(home: locations.homeDirectory) }

  /// What the domain's file holds; nil where there is no such file. In a container also what is shared with it, in the
  /// order of `Containment`.
  /// - Throws: why it can't be read: `.unreadable`, `.damaged`, `.untrusted`.
  public func read() throws(PreferencesFault) -> [String: PropertyListValue]? {
    let own = try read(file)
    if domainName != nil {
      RedirectedAccess.noteRead(ofDomain: name, in: locations, to: sink)
    }
    guard let sharedFile, let others = try read(sharedFile.file) else { return own }
    return others.merging(own ?? [:]) { other, own in sharedFile.comesFirst ? other : own }
  }

  /// The file alone, without what is shared.
  public var own: PersistentDomain { PersistentDomain(file, name, domainName, locations) }

  /// The other file that a contained application reads at this place, and whether it is asked before its own. It is never
  /// written.
  public var shared: (domain: PersistentDomain, comesFirst: Bool)? {
    sharedFile.map { (PersistentDomain($0.file, name, domainName, locations), $0.comesFirst) }
  }

  private init(_ file: PreferenceFile, _ name: String, _ domainName: String?, _ locations: PreferenceLocations) {
    self.file = file
    self.name = name
    self.domainName = domainName
    self.locations = locations
    sharedFile = nil
  }

  /// The bytes of the domain's own file, for who copies it; links are followed as for every reader of the domain.
  /// - Parameter known: the version that the caller has; its bytes are not read again.
  /// - Returns: nil where there is no file. `bytes` is nil for the version that is known.
  /// - Throws: why the file can't be read.
  public func fileContents(unless known: FileMetadata?) throws(FileError) -> (bytes: [UInt8]?, version: FileMetadata)? {
    if let known, !file.isOutdated(since: known) { return (nil, known) }
    return try file.contents().map { ($0.bytes, $0.metadata) }
  }

  private func read(_ file: PreferenceFile) throws(PreferencesFault) -> [String: PropertyListValue]? {
    let reading = file.read()
    if let fault = reading.fault { throw fault }
    return reading.version == nil ? nil : reading.values
  }

  /// Changes the domain: locks it against other writers, reads it again, lets `body` change what it holds, and writes;
  /// returns when all is on the disk. Where `body` changes nothing, or throws, nothing is written.
  ///
  /// A file that is no property list counts as empty; it is moved aside before another takes its place.
  /// - Parameters:
  ///   - lockTimeout: seconds to wait for another writer.
  ///   - remark: told of a file that was moved aside.
  /// - Throws: what `body` throws, or a `PreferencesFault`: `.busy`, `.unwritable`, `.unreadable`, `.untrusted`.
  @discardableResult
  public func change<R>(
    lockTimeout: Double = 10, remark: (PreferencesFault) -> Void = { _ in },
    _ body: (inout [String: PropertyListValue]) throws -> R
  ) throws -> R {
    let locked = try LockedPreferenceFile(file, timeout: lockTimeout)
    var values = locked.values
    let result = try body(&values)
    if values == locked.values { return result }
    let isContained = domainName != nil && locations.containment != nil
    let changed = !isContained ? [] : DomainContents.changedKeys(from: locked.values, to: values)
    let writing = try locked.replace(by: values)
    for key in changed {
      RedirectedAccess.noteWrite(
        of: key, inDomain: name, operation: values[key] == nil ? "remove" : "set", in: locations,
        to: sink)
    }
    for fault in writing.remarks {
      sink.send(AuditEvent(fault, inDomain: name))
      remark(fault)
    }
    return result
  }

  /// The domains that have a file at a place, sorted by their bytes, `NSGlobalDomain` by this name. Of this user's: those
  /// that live in containers and groups too; and for a contained application what is in its own container, with what is
  /// shared with it.
  ///
  /// - Parameter passedOver: told of each file whose name is not UTF-8: no domain has such a name.
  /// - Throws: why the directory can't be listed. One that is not there holds none.
  public static func names(
    in locations: PreferenceLocations, user: User = .current, host: Host = .any,
    passedOver: (PreferencesFault) -> Void = { _ in }
  ) throws(FileError) -> [String] {
    let identifier = identifier(of: host, in: locations)
    func names(in directory: String) throws(FileError) -> [String] {
      let directory = identifier == nil ? directory : FilePath.join(directory, PreferenceFile.perHostDirectory)
      var nameless: [String] = []
      let files: [String]
      do throws(FileError) { files = try Directory.names(in: directory) { nameless.append($0) } } catch {
        if error.errno == .noSuchFile { return [] }
        throw error
      }
      for file in nameless where file.hasSuffix(identifier.map { ".\($0).plist" } ?? ".plist") {
        let path = FilePath.join(directory, file)
        passedOver(
          PreferencesFault(.unreadable, path: path, message: "the file's name is not UTF-8, so it is no domain's"))
      }
      return files.compactMap { domain(ofFile: $0, host: identifier) }
    }
    if user == .any { return try names(in: locations.anyUserDirectory).sortedByBytes() }
    let moved = try locations.movedDomains()
    // What a domain left behind when it moved is not asked any more.
    var all = Set(try names(in: locations.place(ofDomain: GlobalDomain.name).directory)).subtracting(moved)
    for domain in moved where try names(in: locations.place(ofDomain: domain).directory).contains(domain) {
      all.insert(domain)
    }
    for domain in locations.sharedDomains() {
      guard let shared = locations.sharedFile(ofDomain: domain, host: identifier) else { continue }
      if (try? FileMetadata.of(shared.file.path)) != nil { all.insert(domain) }
    }
    return all.sortedByBytes()
  }

  /// Whether there can be files at a place: its directory is there, or that can't be asked. One system call.
  public static func isPlace(in locations: PreferenceLocations, user: User, host: Host) -> Bool {
    // Domains are in several places then.
    if user == .current, locations.hasMovedDomains { return true }
    var directory = user == .any ? locations.anyUserDirectory : locations.configurationDirectory
    if host != .any { directory = FilePath.join(directory, PreferenceFile.perHostDirectory) }
    do throws(FileError) { return try FileMetadata.of(directory).isDirectory } catch {
      return error.errno != .noSuchFile
    }
  }

  private static func identifier(of host: Host, in locations: PreferenceLocations) -> String? {
    switch host {
    case .any: nil
    case .current: locations.hostIdentifier
    case .named(let identifier): identifier
    }
  }

  /// The domain that a file's name stands for; nil when it stands for none.
  static func domain(ofFile name: String, host: String?) -> String? {
    let ending = host.map { ".\($0).plist" } ?? ".plist"
    guard name.hasSuffix(ending) else { return nil }
    let stem = String(name.dropLast(ending.count))
    if stem == ".GlobalPreferences" { return GlobalDomain.name }
    // A file of this name is not the domain's.
    return stem == GlobalDomain.name || DomainName.fault(in: stem) != nil ? nil : stem
  }

  /// The file of a known place to which a path leads through links, the last one included.
  private static func known(
    behind path: String, _ locations: PreferenceLocations
  ) -> (domain: String, file: PreferenceFile)? {
    guard let resolved = SymbolicLink.resolved(path), resolved != path else { return nil }
    return known(FilePath.name(of: resolved), in: FilePath.parent(of: resolved), locations)
  }

  /// The file of a known place that has this name in this directory, however the directory is spelled.
  private static func known(
    _ fileName: String, in directory: String, _ locations: PreferenceLocations
  ) -> (domain: String, file: PreferenceFile)? {
    guard let place = try? FileMetadata.of(directory) else { return nil }
    for user in [User.current, .any] {
      for host in [nil, locations.hostIdentifier, statedHost(inFile: fileName)] {
        guard let name = domain(ofFile: fileName, host: host) else { continue }
        let file = locations.file(ofDomain: name, user: user, host: host)
        guard let known = try? FileMetadata.of(file.directory) else { continue }
        if known.device == place.device && known.inode == place.inode { return (name, file) }
      }
    }
    return nil
  }

  /// The host in `DOMAIN.HOST.plist`: what follows the last dot, since only domains have dots in them.
  private static func statedHost(inFile name: String) -> String? {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count > 2 ? String(parts[parts.count - 2]) : nil
  }
}
