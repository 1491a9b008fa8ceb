internal import Foundation
internal import PreferencesCore
internal import Synchronization

/// What all `ManagedDefaults` of the process share: who the application is, and the standard object.
enum StandardDefaults {
  private struct Identity {
    var stated: String?
    /// From the first search list on, whose answers depend on it.
    var isInUse = false
  }

  private static let identity = Mutex(Identity())
  private static let making = Mutex<Void>(())
  /// The address of the standard object, or 0. Objects that were ever here are never released: a thread that loaded the pointer just
  /// before a reset may still be about to retain what it points to, and a lock in each `standard` would cost more than
  /// the object that a rare reset leaves behind.
  private static let object = Atomic<UInt>(0)

  static var current: ManagedDefaults {
    if let defaults = defaults(at: object.load(ordering: .acquiring)) { return defaults }
    return making.withLock { _ in
      if let defaults = defaults(at: object.load(ordering: .acquiring)) { return defaults }
      guard let defaults = ManagedDefaults(suiteName: nil) else { Misuse.stop("the application has no domain") }
      object.store(UInt(bitPattern: Unmanaged.passRetained(defaults).toOpaque()), ordering: .releasing)
      return defaults
    }
  }

  private static func defaults(at address: UInt) -> ManagedDefaults? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  static func reset() {
    let address = object.load(ordering: .acquiring)
    guard let defaults = defaults(at: address) else { return }
    defaults.synchronize()
    // Another thread that reset meanwhile has done what we were asked to do.
    _ = object.compareExchange(expected: address, desired: 0, ordering: .acquiringAndReleasing)
  }

  static var applicationIdentifier: String { identity.withLock(\.stated) ?? ApplicationIdentity.fallback() }

  static func state(applicationIdentifier name: String) {
    if let fault = DomainName.fault(in: name) {
      Misuse.stop("applicationIdentifier: \(fault)")
    }
    let isTooLate = identity.withLock { identity in
      if !identity.isInUse { identity.stated = name }
      return identity.isInUse
    }
    if isTooLate {
      Misuse.stop(
        "applicationIdentifier: \"\(name)\" comes too late: values were read as \"\(applicationIdentifier)\" already; "
          + "set it before the first use of ManagedDefaults")
    }
  }

  /// A search list for the application, or for a suite in its place; nil, logged, for a suite that can't be.
  static func makeList(suite: String?) -> SearchList? {
    identity.withLock { $0.isInUse = true }
    let application = applicationIdentifier
    if let suite, suite == application {
      log("no suite \"\(suite)\": it is the application's own domain; use ManagedDefaults.standard")
      return nil
    }
    if let suite, suite == GlobalDomain.name {
      log("no suite \"\(suite)\": every search list contains it already")
      return nil
    }
    do {
      let list = try SearchList(
        configuration: SearchList.Configuration(
          domain: suite, applicationDomain: application, arguments: Array(CommandLine.arguments.dropFirst())))
      RegistrationDomain.join(list)
      return list
    } catch {
      log("no suite \"\(suite ?? application)\": \(error)")
      return nil
    }
  }

  private static func log(_ message: String) {
    FileHandle.standardError.write(Data("ManagedDefaults: \(message)\n".utf8))
  }
}
