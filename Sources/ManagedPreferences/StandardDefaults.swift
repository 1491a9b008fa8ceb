internal import LinuxFiles
internal import PreferencesCore
internal import Synchronization
internal import UbiquitousStore

/// The standard object, and how objects come by their search lists.
enum StandardDefaults {
  private static let making = Mutex<Void>(())
  /// The address of the standard object, or 0. Objects that were ever here are never released: a thread that loaded the
  /// pointer just before a reset may still be about to retain what it points to, and a lock in each `standard` would cost
  /// more than the object that a rare reset leaves behind.
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

  static func state(applicationIdentifier name: String) {
    do {
      try ApplicationLists.state(applicationIdentifier: name)
    } catch .tooLate(let inUse) {
      Misuse.stop(
        "applicationIdentifier: \"\(name)\" comes too late: values were read as \"\(inUse)\" already; "
          + "set it before the first use of ManagedDefaults")
    } catch {
      Misuse.stop("applicationIdentifier: \(error)")
    }
  }

  /// A search list for the application, or for a suite in its place; nil, logged, for a suite that can't be.
  static func makeList(suite: String?) -> SearchList? {
    RoamingLayers.opener = RoamingStore.open
    do {
      return try ApplicationLists.open(suite: suite)
    } catch {
      logRefusal(ofSuite: suite ?? ApplicationLists.applicationIdentifier, error)
    }
    return nil
  }

  /// A search list of another account; nil, logged, for one that there is none of.
  static func makeList(account: String) -> SearchList? {
    do {
      return try ApplicationLists.open(account: account)
    } catch {
      log("no defaults of the user \"\(account)\": \(error)")
    }
    return nil
  }

  /// Tells why a name can't be a suite.
  static func logRefusal(ofSuite name: String, _ fault: ApplicationListFault? = nil) {
    guard let fault = fault ?? ApplicationLists.fault(ofSuite: name) else {
      return log("no suite \"\(name)\": it is the receiver's own domain")
    }
    let next = fault == .ownDomain(name) ? "; use ManagedDefaults.standard" : ""
    log("no suite \"\(name)\": \(fault)\(next)")
  }

  private static func log(_ message: String) {
    StandardStreams.writeErrorLine("ManagedDefaults: \(message)")
  }
}
