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

  /// The flags that lead a command to this place.
  var flags: [String] {
    (user == .any ? ["--any-user"] : []) + (host == .current ? ["-currentHost"] : [])
  }
}
