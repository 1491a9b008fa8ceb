import PropertyList
import Synchronization

@testable import PreferencesCore

/// A synced store in memory, in the place of the real one. Two fixtures may stand for two machines: whatever one sets, `deliver` brings to the other.
final class MemoryStore: RoamingLayer {
  private struct State {
    var contents = RoamingContents()
    var refusal: String?
    var handler: (@Sendable () -> Void)?
    var sets: [String] = []
    var isFailing = false
    var hasUnsaved = false
    var offers: [String: UnsentEdit] = [:]
  }
  private let state = Mutex(State())
  let path = "/store"

  var contents: RoamingContents { state.withLock { $0.contents } }
  var refusal: String? {
    get { state.withLock { $0.refusal } }
    set { state.withLock { $0.refusal = newValue } }
  }
  /// Every key that was set or removed through the list, in order.
  var sets: [String] { state.withLock { $0.sets } }

  func set(_ value: PropertyListValue?, forKey key: String) -> String? {
    state.withLock { state in
      if let refusal = state.refusal { return refusal }
      state.sets.append(key)
      state.contents.set(value, forKey: key)
      state.hasUnsaved = true
      return nil
    }
  }

  func offer(_ value: PropertyListValue?, forKey key: String, _ edit: UnsentEdit) -> RoamingOffer {
    state.withLock { state in
      if let refusal = state.refusal { return .refused(refusal) }
      state.offers[key] = edit
      state.contents.set(value, forKey: key)
      return .settled
    }
  }

  /// The edits that were offered, by their keys.
  var offers: [String: UnsentEdit] { state.withLock { $0.offers } }
  var isFailing: Bool {
    get { state.withLock { $0.isFailing } }
    set { state.withLock { $0.isFailing = newValue } }
  }
  var hasUnsaved: Bool { state.withLock { $0.hasUnsaved } }

  func synchronize() -> Bool {
    state.withLock { state in
      if !state.isFailing { state.hasUnsaved = false }
      return !state.isFailing
    }
  }
  func observe(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.handler = handler } }

  /// What another machine sets.
  func deliver(_ value: PropertyListValue?, forKey key: String) {
    let handler = state.withLock { state in
      state.contents.set(value, forKey: key)
      return state.handler
    }
    handler?()
  }

  /// Opens it in the place of the real one.
  var opener: RoamingLayers.Opener { { [self] _ throws(PreferencesFault) in self } }

  /// The same while it can be opened.
  func opener(when isSound: @escaping @Sendable () -> Bool) -> RoamingLayers.Opener {
    { [self] place throws(PreferencesFault) in
      if isSound() { return self }
      throw PreferencesFault(.notRoaming, path: place.directory, message: "the store can't be opened")
    }
  }
}
