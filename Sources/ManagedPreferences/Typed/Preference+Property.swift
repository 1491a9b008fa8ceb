internal import PropertyList

extension Preference {
  /// A property as `$name`: who forces its value, whether one is stored, and what changes.
  ///
  /// May be kept longer than the preferences object, and passed between threads, as all members may be called from any.
  public struct Property: @unchecked Sendable {
    /// nil for a property of the class's one object, which never goes: counting references would cost more than a read.
    @usableFromInline let keeper: Storage?
    @usableFromInline let storage: Unmanaged<Storage>
    /// The storage's own.
    @usableFromInline let bound: UnsafeMutablePointer<Unmanaged<PreferencePlace>?>

    /// - Precondition: somebody keeps the storage during the call.
    @inlinable
    init(of preference: Preference) {
      storage = preference.storage
      bound = preference.bound
      let staysForever = bound.pointee?._withUnsafeGuaranteedRef { $0.staysForever } ?? false
      keeper = staysForever ? nil : preference.storage.takeUnretainedValue()
    }

    /// What the property is.
    public var value: Value {
      get { withStorage { $0.value } }
      nonmutating set { withStorage { $0.value = newValue } }
    }

    func withStorage<R>(_ body: (Storage) -> R) -> R {
      withExtendedLifetime(keeper) { storage._withUnsafeGuaranteedRef(body) }
    }

    func withPlace<R>(_ body: (PreferencePlace) -> R) -> R { withStorage { $0.withPlace(body) } }

    func effective(_ form: PropertyListValue?, at place: PreferencePlace) -> Value {
      withStorage { $0.effective(form, at: place) }
    }

    func stored(_ value: Value, at place: PreferencePlace) -> PropertyListValue? {
      withStorage { $0.stored(value, at: place) }
    }
  }
}
