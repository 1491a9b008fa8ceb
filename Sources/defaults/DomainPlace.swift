import PreferencesCore

/// One of the four places that can have a file of a domain.
struct DomainPlace {
  let layer: Layer
  let user: PersistentDomain.User
  let host: PersistentDomain.Host

  /// The places in the order in which applications ask them: that of the layers' table, and of this host before every
  /// host.
  static func all(of reference: DomainReference) -> [DomainPlace] {
    let isGlobal = reference.name == GlobalDomain.name
    return Layer.allCases.flatMap { layer -> [DomainPlace] in
      switch layer {
      case isGlobal ? .globalHost : .applicationHost: [DomainPlace(layer: layer, user: .current, host: .current)]
      case isGlobal ? .global : .application: [DomainPlace(layer: layer, user: .current, host: .any)]
      case .anyUser: [.current, .any].map { DomainPlace(layer: layer, user: .any, host: $0) }
      default: []
      }
    }
  }

  /// A file of a domain, where it stands in the search list.
  struct File {
    let layer: Layer
    let domain: PersistentDomain
    /// The flags that lead a command to it; nil for one that is only read.
    let flags: [String]?
  }

  /// The files of a domain at some of its places, in the order in which applications ask them. In a container, those that are
  /// shared with the application come before or behind all of its own.
  static func files(of reference: DomainReference, at places: [DomainPlace]) -> [File] {
    var (own, shared, anyUser): ([File], [File], [File]) = ([], [], [])
    var sharedComesFirst = false
    for place in places {
      guard let domain = reference.file(user: place.user, host: place.host) else { continue }
      let file = File(layer: place.layer, domain: domain.own, flags: place.flags)
      if place.user == .any { anyUser.append(file) } else { own.append(file) }
      if let (other, comesFirst) = domain.shared {
        shared.append(File(layer: place.layer, domain: other, flags: nil))
        sharedComesFirst = comesFirst
      }
    }
    return (sharedComesFirst ? shared + own : own + shared) + anyUser
  }

  /// The same place with the host that a flag names.
  func on(_ host: PersistentDomain.Host) -> DomainPlace { DomainPlace(layer: layer, user: user, host: host) }

  /// The flags that lead a command to this place.
  var flags: [String] {
    (user == .any ? ["--any-user"] : []) + (host == .current ? ["-currentHost"] : [])
  }
}
