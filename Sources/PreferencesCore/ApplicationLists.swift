import ForcedDomain
import Synchronization

/// The search lists that an application opens for itself, and what they have in common: who the application is, its
/// command line, and what it registered (`RegistrationDomain`).
public enum ApplicationLists {
  private struct Identity {
    var identifier: String?
    var arguments: [String]?
    /// From the first search list on, whose answers depend on it.
    var isInUse = false
  }

  private static let identity = Mutex(Identity())

  /// The application's domain: what it stated, else `ApplicationIdentity.fallback()`. In a container that `policyctl run`
  /// made, that of the container, whatever was stated.
  public static var applicationIdentifier: String {
    EnclosingContainer.current?.identifier ?? identity.withLock(\.identifier) ?? ApplicationIdentity.fallback()
  }

  /// States the application's domain.
  /// - Throws: `name` for what can't be a domain's name, `tooLate` once a list was opened: values were read, and maybe
  ///   acted upon, under another name.
  public static func state(applicationIdentifier name: String) throws(ApplicationListFault) {
    if let fault = DomainName.fault(in: name) { throw .name(fault) }
    try change { $0.identifier = name }
  }

  /// States the command line, without the program's name, for programs that don't want the kernel's account of it to be
  /// parsed for preferences.
  /// - Throws: `tooLate` once a list was opened.
  public static func state(arguments: [String]) throws(ApplicationListFault) {
    try change { $0.arguments = arguments }
  }

  private static func change(_ body: (inout Identity) -> Void) throws(ApplicationListFault) {
    let isTooLate = identity.withLock { identity in
      if !identity.isInUse { body(&identity) }
      return identity.isInUse
    }
    if isTooLate { throw .tooLate(inUse: applicationIdentifier) }
  }

  /// Opens the application's search list, or one in which a suite takes the application's place.
  public static func open(suite: String? = nil) throws(ApplicationListFault) -> SearchList {
    let arguments = argumentsInUse()
    if let suite, let fault = fault(ofSuite: suite) { throw fault }
    return try open(
      SearchList.Configuration(domain: suite, applicationDomain: applicationIdentifier, arguments: arguments))
  }

  /// Opens the search list of another account (`SearchList.Configuration.init(account:)`).
  /// - Throws: `noAccess` where there is no such account, or its files may not be read.
  public static func open(account name: String) throws(ApplicationListFault) -> SearchList {
    let arguments = argumentsInUse()
    let configuration = SearchList.Configuration(
      account: name, applicationDomain: applicationIdentifier, arguments: arguments)
    guard let configuration else { throw .noAccess(account: name) }
    return try open(configuration)
  }

  /// Where the application's synced store lives. A contained application's is in its container, so this asks the policy.
  public static var roamingPlace: RoamingPlace {
    let engine = Engine.shared
    let asked = SearchList.Configuration(applicationDomain: applicationIdentifier, observes: false)
    let policy = engine.lock.withLock { engine.policy(of: asked.installation) }
    for notice in engine.refresh(policy, reportingTo: asked.sink) { notice.deliver() }
    let configuration = asked.contained(by: policy)
    return configuration.locations.roamingPlace(ofDomain: configuration.applicationDomain)
  }

  /// Why a name can't be the application's suite; nil where it can.
  public static func fault(ofSuite name: String) -> ApplicationListFault? {
    if name == applicationIdentifier { return .ownDomain(name) }
    if name == GlobalDomain.name { return .globalDomain }
    return DomainName.fault(in: name).map { .name($0) }
  }

  private static func argumentsInUse() -> [String] {
    let stated = identity.withLock { identity in
      identity.isInUse = true
      return identity.arguments
    }
    return stated ?? Array(CommandLine.arguments.dropFirst())
  }

  private static func open(_ configuration: SearchList.Configuration) throws(ApplicationListFault) -> SearchList {
    do throws(DomainNameFault) {
      let list = try SearchList(configuration: configuration)
      RegistrationDomain.join(list)
      return list
    } catch {
      throw .name(error)
    }
  }
}

/// Why a search list can't be opened, or what it depends on can't be stated any more.
public enum ApplicationListFault: Error, Sendable, Hashable, CustomStringConvertible {
  case name(DomainNameFault)
  /// The application's own domain can't be its suite.
  case ownDomain(String)
  /// `NSGlobalDomain` can't be a suite.
  case globalDomain
  /// Search lists were opened already, under this name.
  case tooLate(inUse: String)
  /// There is no such account, or this process may not read its preference files.
  case noAccess(account: String)

  public var description: String {
    switch self {
    case .name(let fault): fault.description
    case .ownDomain: "it is the application's own domain"
    case .globalDomain: "every search list contains it already"
    case .tooLate(let name): "values were read as \"\(name)\" already; state this before preferences are opened"
    case .noAccess: "there is no such account, or its preferences may not be read"
    }
  }
}
