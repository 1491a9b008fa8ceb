public import AuditEvents
import CReaderEpoch
public import ForcedDomain
import LinuxFiles
import PropertyList
import Synchronization

/// The search list: what an application reads its preferences through, and asks whether they are forced.
///
/// Stores are asked in the order of `Layer`; the first that has the key answers. A read is one atomic load, one hash, one
/// probe of an immutable table (two while recent changes wait to be merged): no lock, no reference count, no system call,
/// no clock. All members may be called from any thread.
///
/// Changes reach the disk by themselves within a second, and at normal exit. Lists of one process share the files: what one
/// sets, all read at once.
public final class SearchList: Sendable {
  /// Whose preferences, where they are, and how the list follows them.
  public struct Configuration: Sendable {
    /// The domain in the application's place: the application's own, or that of a suite.
    public var domain: String
    /// The application's own domain, which `addSuite` refuses.
    public var applicationDomain: String
    /// Where `~` leads in URLs.
    public var homeDirectory: String
    /// Where `DOMAIN.plist` and `.GlobalPreferences.plist` are.
    public var configurationDirectory: String
    /// Below it are containers and groups.
    public var dataDirectory: String
    /// What contains the application. nil asks, when the list is opened, the container around the process and the policy.
    public var containment: Containment?
    /// The account whose preferences a list is for, where it is another than the process's.
    var account: String?
    /// What stands for this host in the names of per-host files.
    public var hostIdentifier: String
    /// The command line without the program's name; empty for no argument layer.
    public var arguments: [String]
    /// Names of locales in order of preference, such as `de_AT.UTF-8`; nil for those of the environment, empty for no
    /// language domains.
    public var languages: [String]?
    public var installation: Installation
    public var sink: any AuditEventSink
    /// Whether the list follows, in the background, what others change. False for a command that answers once: it starts
    /// no thread, and sees others' changes after `synchronize`.
    public var observes: Bool
    /// Whether the container of a contained application is made where it is missing. False for a command that only asks.
    public var preparesContainer = true
    /// Unix seconds. Windows open and close by it.
    public var clock: @Sendable () -> Int64
    public var userFacts: UserFacts
    /// Who opens the synced store of keys that roam; nil: the process's, `RoamingLayers.opener`.
    public var openRoamingLayer: RoamingLayers.Opener?

    /// - Parameters: nil takes what holds for this process: the executable's name, `$HOME`, `$XDG_CONFIG_HOME`,
    ///   `$XDG_DATA_HOME` (with another home directory given: `.local/share` in that), this machine's identifier, the installation
    ///   that `Installation.locate` finds, its agent with the user's spool (with another home directory given: the one in
    ///   that), the kernel's facts about the user.
    public init(
      domain: String? = nil, applicationDomain: String? = nil, homeDirectory: String? = nil,
      configurationDirectory: String? = nil, dataDirectory: String? = nil, containment: Containment? = nil,
      hostIdentifier: String? = nil, arguments: [String] = [], languages: [String]? = nil,
      installation: Installation? = nil, sink: (any AuditEventSink)? = nil, observes: Bool = true,
      clock: (@Sendable () -> Int64)? = nil, userFacts: UserFacts? = nil
    ) {
      let domain = domain ?? applicationDomain ?? ApplicationIdentity.fallback()
      let home = homeDirectory ?? UserLocations.homeDirectory()
      self.domain = domain
      self.applicationDomain = applicationDomain ?? domain
      self.homeDirectory = home
      self.configurationDirectory = configurationDirectory ?? UserLocations.configurationDirectory(home: home)
      self.dataDirectory =
        dataDirectory
        ?? (homeDirectory == nil ? UserLocations.dataDirectory(home: home) : FilePath.join(home, ".local/share"))
      self.containment = containment
      self.hostIdentifier = hostIdentifier ?? HostIdentifier.current()
      self.arguments = arguments
      self.languages = languages
      self.installation = installation ?? Installation.locate(root: nil).installation
      self.sink = sink ?? self.installation.auditSink(home: home)
      self.observes = observes
      self.clock = clock ?? { WallClock.unixSeconds() }
      self.userFacts = userFacts ?? .current()
    }

    /// Where the persistent domains are.
    public var locations: PreferenceLocations {
      var locations = PreferenceLocations(
        homeDirectory: homeDirectory, configurationDirectory: configurationDirectory, dataDirectory: dataDirectory,
        installation: installation, hostIdentifier: hostIdentifier, containment: containment)
      locations.accountOfOther = account
      return locations
    }
  }

  public let configuration: Configuration
  let state: ListState
  /// Where the current snapshot's address stands: all that a read needs to know. `state` keeps it alive.
  nonisolated(unsafe) let published: UnsafeMutablePointer<Atomic<UInt>>

  var engine: Engine { .shared }

  /// Reads everything there is, once.
  /// - Throws: what is wrong with a name that can't be a domain's.
  /// - Complexity: O(*n*) in the keys of all layers.
  public init(configuration: Configuration) throws(DomainNameFault) {
    for name in [configuration.domain, configuration.applicationDomain] {
      if let fault = DomainName.fault(in: name) { throw fault }
    }
    let engine = Engine.shared
    let sink = configuration.sink
    let policy = engine.lock.withLock { engine.policy(of: configuration.installation) }
    // Read before the list is known to the engine, so that its tables are filled once. Other lists may have observers.
    var notices = engine.refresh(policy, reportingTo: sink)
    // The policy says what contains the application, and that says which files are its.
    let configuration = configuration.contained(by: policy)
    self.configuration = configuration
    let (own, global) = engine.lock.withLock {
      (
        engine.files(ofDomain: configuration.domain, for: configuration),
        engine.files(ofDomain: GlobalDomain.name, for: configuration)
      )
    }
    let state = ListState(configuration, own: own, global: global, policy: policy)
    self.state = state
    published = state.published.address
    notices += engine.refresh(state.files)
    engine.lock.withLock {
      state.view = PolicyView(policy, user: configuration.userFacts, instant: configuration.clock())
      engine.add(state)
    }
    notices += engine.openRoaming(for: [state])
    _ = state.fill(engine, .receiver, domain: nil, isFirst: true)
    if configuration.observes { engine.lock.withLock { engine.watcher.wake() } }
    noteRedirectedRead(of: configuration.domain)
    for notice in notices { notice.deliver() }
  }

  deinit {
    let engine = Engine.shared
    let store = engine.lock.withLock { engine.remove(state) }
    extendLifetime(store)
  }

  /// The generation of the forced domain in use, nil where there is none.
  public var generation: UInt64? { engine.lock.withLock { state.view.domain?.generation } }

  /// The forced domain of this installed host can't be read, and no older generation is there.
  public var isForcedDomainUnavailable: Bool { engine.lock.withLock { state.view.isUnavailable } }

  /// What is wrong with the stores of this list, now.
  public var faults: [PreferencesFault] {
    engine.lock.withLock {
      let kind: PreferencesFault.Kind = state.view.isUnavailable ? .policyUnavailable : .policyDamaged
      let policy = state.policy.faults.map { PreferencesFault(kind, path: $0.path, message: $0.message) }
      let touched = state.touched.sorted { $0.key < $1.key }.map(\.value)
      let files = state.files + touched.filter { file in !state.files.contains { $0 === file } }
      let all =
        policy + files.flatMap { $0.faults.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value) }
        + (state.roamingFault.map { [$0] } ?? [])
      // A directory's fault is that of every file in it.
      return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
  }
}
