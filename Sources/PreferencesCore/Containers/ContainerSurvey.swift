public import LinuxFiles
public import PropertyList

/// What a user's container holds, for who looks at it from outside.
///
/// Nothing in it is trusted: no link is followed, and what can't be read is said.
public struct ContainerSurvey: Sendable {
  /// A domain of which the application has a copy of its own.
  public struct Redirected: Sendable, Hashable {
    public let domain: String
    /// The container's file for any host.
    public let path: String
    /// Unix seconds of the last write, of the newest of its files.
    public let written: Int64
  }

  /// One key of such a domain, on both sides.
  public struct Difference: Sendable, Hashable {
    public let key: String
    /// What the application has; nil for nothing.
    public let inContainer: PropertyListValue?
    /// What the domain holds where it lives; nil for nothing.
    public let outside: PropertyListValue?
  }

  public let identifier: String
  public let directory: String
  /// Bytes of all files, as their sizes say.
  public let byteCount: Int64
  public let fileCount: Int
  /// How many of them are in the application's home and no settings: documents, as a rule.
  public let documentCount: Int
  /// Sorted by domain; empty where `fault` says why they can't be told.
  public let redirected: [Redirected]
  /// Why its preferences can't be looked through: the application may have put anything in their place.
  public let fault: FileError?
  private let locations: PreferenceLocations

  /// The applications that have a container; sorted. Empty where there are none.
  public static func identifiers(in locations: PreferenceLocations) throws(FileError) -> [String] {
    let containers = ContainerDirectories(dataDirectory: locations.dataDirectory)
    do throws(FileError) {
      return try Directory.names(in: containers.containersDirectory).filter { name in
        DomainName.fault(in: name) == nil && containers.hasContainer(name)
      }
    } catch {
      if error.errno == .noSuchFile { return [] }
      throw error
    }
  }

  /// - Parameter locations: the user's, as somebody sees them who is not contained.
  /// - Throws: why the container can't be looked through; "no such file" where there is none.
  /// - Complexity: O(files in the container).
  public init(_ identifier: String, in locations: PreferenceLocations) throws(FileError) {
    self.identifier = identifier
    var inside = locations
    inside.containment = Containment(identifier: identifier)
    self.locations = locations
    directory = ContainerDirectories(dataDirectory: locations.dataDirectory).container(identifier)
    guard try FileMetadata.of(directory, followingLinks: false).isDirectory else {
      throw FileError("look through", path: directory, errno: .notDirectory)
    }
    do throws(FileError) {
      redirected = try Self.redirected(identifier, inside)
      fault = nil
    } catch {
      redirected = []
      fault = error
    }
    let all = Self.count(directory)
    (byteCount, fileCount) = (all.bytes, all.files)
    let home = FilePath.join(directory, "home")
    documentCount = ((try? Directory.names(in: home)) ?? []).filter { !$0.hasPrefix(".") }.reduce(0) { sum, name in
      sum + Self.count(FilePath.join(home, name)).files
    }
  }

  /// What goes while it is counted, or can't be looked through, is not counted.
  private static func count(_ path: String) -> (bytes: Int64, files: Int) {
    guard let metadata = try? FileMetadata.of(path, followingLinks: false) else { return (0, 0) }
    guard metadata.isDirectory else { return (metadata.isRegularFile ? metadata.size : 0, 1) }
    return ((try? Directory.names(in: path)) ?? []).reduce((0, 0)) { sum, name in
      let inner = count(FilePath.join(path, name))
      return (sum.0 + inner.bytes, sum.1 + inner.files)
    }
  }

  private static func redirected(
    _ identifier: String, _ inside: PreferenceLocations
  ) throws(FileError) -> [Redirected] {
    let directory: OpenDirectory
    // Any domain that is foreign is kept where all of them are.
    let place = inside.place(ofDomain: GlobalDomain.name)
    do throws(FileError) {
      directory = try OpenDirectory(place.directory, below: place.anchor ?? place.directory)
    } catch {
      if error.errno == .noSuchFile { return [] }
      throw error
    }
    var written: [String: Int64] = [:]
    func note(_ domain: String, _ metadata: FileMetadata) {
      if domain == identifier { return }
      written[domain] = max(written[domain] ?? .min, metadata.modificationNanoseconds / 1_000_000_000)
    }
    for name in try directory.names() {
      if let domain = PersistentDomain.domain(ofFile: name, host: nil), let metadata = try? directory.metadata(of: name)
      {
        note(domain, metadata)
      }
    }
    if let perHost = try? directory.directory(PreferenceFile.perHostDirectory) {
      for name in try perHost.names() {
        if let domain = PersistentDomain.domain(ofFile: name, host: inside.hostIdentifier),
          let metadata = try? perHost.metadata(of: name)
        {
          note(domain, metadata)
        }
      }
    }
    return written.map { domain, time in
      Redirected(
        domain: domain, path: inside.file(ofDomain: domain, user: .current, host: nil).path, written: time)
    }.sorted { $0.domain.utf8.lexicographicallyPrecedes($1.domain.utf8) }
  }

  /// The keys that a redirected domain has in the container, each beside what it is outside; sorted. Files for any host.
  /// - Throws: why one of the two files can't be read.
  public func differences(ofDomain name: String) throws(PreferencesFault) -> [Difference] {
    var inside = locations
    inside.containment = Containment(identifier: identifier)
    let copy = try values(inside.file(ofDomain: name, user: .current, host: nil))
    let real = try values(locations.file(ofDomain: name, user: .current, host: nil))
    return copy.keys.sortedByBytes().map { Difference(key: $0, inContainer: copy[$0], outside: real[$0]) }
  }

  private func values(_ file: PreferenceFile) throws(PreferencesFault) -> [String: PropertyListValue] {
    let reading = file.read()
    if let fault = reading.fault { throw fault }
    return reading.values
  }
}
