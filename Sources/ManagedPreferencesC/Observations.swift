// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import Glibc
import PreferencesCore

/// A function of C's with the data that it was given, and their end.
///
/// The last reference goes when the observation has ended and no call is under way: that is when `destroy` is due. The
/// engine drops its own under its lock, so `Observation` keeps one until no lock is held.
final class Callback<Function>: @unchecked Sendable {
  let function: Function
  let userData: UnsafeMutableRawPointer?
  private let destroy: mp_destroy_callback?

  init(_ function: Function, _ userData: UnsafeMutableRawPointer?, _ destroy: mp_destroy_callback?) {
    self.function = function
    self.userData = userData
    self.destroy = destroy
  }

  deinit { destroy?(userData) }
}

/// What an `mp_observation` points to. (The subscription keeps the list.)
final class Observation: Sendable {
  private let subscription: ChangeSubscription
  private let callback: any AnyObject & Sendable

  init(_ subscription: ChangeSubscription, _ callback: any AnyObject & Sendable) {
    self.subscription = subscription
    self.callback = callback
  }

  deinit {
    subscription.cancel()
    extendLifetime(callback)
  }

  var owned: OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }
}

extension mp_origin {
  init(_ source: SearchListChange.Source) {
    self =
      switch source {
      case .receiver: MP_ORIGIN_HANDLE
      case .otherList: MP_ORIGIN_PROCESS
      case .otherProcess: MP_ORIGIN_OTHER_PROCESS
      case .policy: MP_ORIGIN_POLICY
      }
  }
}

extension Callback<@convention(c) (UnsafePointer<mp_change>?, UnsafeMutableRawPointer?) -> Void> {
  func call(_ change: SearchListChange) {
    let domain = change.persistentDomain.map { Output.text($0).pointer }
    let keys = Output.texts(change.keys)
    defer {
      free(domain)
      free(keys)
    }
    let keyPointers = keys.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafePointer<CChar>?.self) }
    var told = mp_change(
      origin: mp_origin(change.source), domain: domain, keys: keyPointers, key_count: change.keys.count)
    function(&told, userData)
  }
}

/// Subscribes with a function of C's; `destroy` is called, whatever happens.
private func observe<Function>(
  _ function: Function?, _ userData: UnsafeMutableRawPointer?, _ destroy: mp_destroy_callback?,
  _ observation: UnsafeMutablePointer<OpaquePointer?>?, name: StaticString = #function,
  _ subscribe: (Callback<Function>) throws(Failure) -> ChangeSubscription
) -> mp_status {
  let box = function.map { Callback($0, userData, destroy) }
  if box == nil { destroy?(userData) }
  return answer(observation, otherwise: nil, "observation", function: name) { () throws(Failure) in
    guard let box else { throw .null("callback") }
    return Observation(try subscribe(box), box).owned
  }
}

@c @implementation public func mp_observe(
  _ preferences: OpaquePointer!, _ callback: mp_change_callback!, _ userData: UnsafeMutableRawPointer!,
  _ destroy: mp_destroy_callback!, _ observation: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  observe(callback, userData, destroy, observation) { (box) throws(Failure) in
    try Input.preferences(preferences).onChange { box.call($0) }
  }
}

extension Callback<@convention(c) (UnsafePointer<mp_key_change>?, UnsafeMutableRawPointer?) -> Void> {
  func call(_ change: KeyChange) {
    let kind =
      switch change.kind {
      case .initial: MP_KEY_INITIAL
      case .prior: MP_KEY_PRIOR
      case .change: MP_KEY_CHANGED
      }
    let key = Output.text(change.key).pointer
    let (old, new) = (ValueHandle.owned(change.old), ValueHandle.owned(change.new))
    defer {
      free(key)
      mp_value_release(old)
      mp_value_release(new)
    }
    var told = mp_key_change(
      kind: kind, origin: mp_origin(change.source), key: key, old_value: old, new_value: new,
      was_forced: change.wasForced, is_forced: change.isForced)
    function(&told, userData)
  }
}

@c @implementation public func mp_observe_key(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ options: UInt32, _ callback: mp_key_callback!,
  _ userData: UnsafeMutableRawPointer!, _ destroy: mp_destroy_callback!,
  _ observation: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  observe(callback, userData, destroy, observation) { (box) throws(Failure) in
    let list = try Input.preferences(preferences)
    let key = try Input.key(key)
    if options & ~(MP_OBSERVE_INITIAL | MP_OBSERVE_PRIOR) != 0 {
      throw Failure(MP_ERROR_RANGE, "\(options) has a bit that is no option")
    }
    return list.observe(key, options: ObservationOptions(rawValue: Int(options))) { box.call($0) }
  }
}

@c @implementation public func mp_observation_cancel(_ observation: OpaquePointer!) {
  if let observation { Unmanaged<Observation>.fromOpaque(UnsafeRawPointer(observation)).release() }
}
