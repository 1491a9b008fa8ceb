// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PreferencesCore
import UbiquitousStore

// The application and its handles.

extension Failure {
  init(_ fault: ApplicationListFault) {
    switch fault {
    case .name, .ownDomain, .globalDomain: self.init(MP_ERROR_NAME, "\(fault)")
    case .tooLate: self.init(MP_ERROR_TOO_LATE, "\(fault)")
    case .noAccess: self.init(MP_ERROR_USER, "\(fault)")
    }
  }
}

@c @implementation public func mp_set_application_identifier(_ identifier: UnsafePointer<CChar>!) -> mp_status {
  attempt { () throws(Failure) in
    let identifier = try Input.text(identifier, "identifier")
    do throws(ApplicationListFault) {
      try ApplicationLists.state(applicationIdentifier: identifier)
    } catch {
      throw Failure(error)
    }
  }
}

@c @implementation public func mp_get_application_identifier(
  _ identifier: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!
) -> mp_status {
  answer(identifier, otherwise: nil, "identifier") { Output.text(ApplicationLists.applicationIdentifier).pointer }
}

@c @implementation public func mp_set_arguments(
  _ arguments: UnsafePointer<UnsafePointer<CChar>?>!, _ count: Int
) -> mp_status {
  attempt { () throws(Failure) in
    let arguments = try Input.texts(arguments, count, "arguments")
    do throws(ApplicationListFault) {
      try ApplicationLists.state(arguments: arguments)
    } catch {
      throw Failure(error)
    }
  }
}

/// What an `mp_preferences` points to is the search list itself.
enum PreferencesHandle {
  static func owned(_ list: SearchList) -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(list).toOpaque()) }

  static func opened(
    _ list: () throws(ApplicationListFault) -> SearchList
  ) throws(Failure) -> OpaquePointer {
    RoamingLayers.opener = RoamingStore.open
    do throws(ApplicationListFault) {
      return owned(try list())
    } catch {
      throw Failure(error)
    }
  }
}

@c @implementation public func mp_open(_ preferences: UnsafeMutablePointer<OpaquePointer?>!) -> mp_status {
  answer(preferences, otherwise: nil, "preferences") { () throws(Failure) in
    try PreferencesHandle.opened { () throws(ApplicationListFault) in try ApplicationLists.open() }
  }
}

@c @implementation public func mp_open_suite(
  _ suite: UnsafePointer<CChar>!, _ preferences: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(preferences, otherwise: nil, "preferences") { () throws(Failure) in
    let suite = try Input.text(suite, "suite")
    return try PreferencesHandle.opened { () throws(ApplicationListFault) in try ApplicationLists.open(suite: suite) }
  }
}

@c @implementation public func mp_open_user(
  _ user: UnsafePointer<CChar>!, _ preferences: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(preferences, otherwise: nil, "preferences") { () throws(Failure) in
    let user = try Input.text(user, "user")
    return try PreferencesHandle.opened { () throws(ApplicationListFault) in try ApplicationLists.open(account: user) }
  }
}

@c @implementation public func mp_close(_ preferences: OpaquePointer!) {
  if let preferences { Unmanaged<SearchList>.fromOpaque(UnsafeRawPointer(preferences)).release() }
}
