internal import PreferencesCore
internal import PropertyList

/// What `$name` tells about the value, and what it can do with it.
extension Preference.Property {
  /// The key: the property's name, unless it was remapped.
  public var key: String { withPlace { $0.key.text } }

  /// Whether the value is an administrator's: disable the control then. Also true for every key when policies are installed
  /// on this host and can't be read.
  @inlinable
  public var isForced: Bool {
    withExtendedLifetime(keeper) {
      if let place = bound.pointee { place._withUnsafeGuaranteedRef { $0.isForced } } else { isForcedUnbound }
    }
  }

  /// Stops the program.
  @usableFromInline var isForcedUnbound: Bool { withPlace { $0.isForced } }

  /// The profiles that force the value, the one that decides first; empty where it is not forced, and where the forced
  /// domain can't be read.
  public var forcedBy: [ForcedBy] {
    withPlace { place in
      place.noteAccess()
      return place.defaults.forcedBy(place.key.text)
    }
  }

  /// Whether a value of the user's is stored in the application's domain, whatever is read: an equal default, or a forced
  /// value in front of it, makes no difference. False after `reset()`.
  public var isStored: Bool {
    withPlace { place in
      place.noteAccess()
      return place.list.isStored(place.key.text)
    }
  }

  /// Whether the value equals the default, be it stored or not: the default that is registered for the key, else the
  /// declared one; without either, whether it is nil.
  public var isDefaultValue: Bool {
    withPlace { place in
      place.noteAccess()
      let registered = effective(place.list.registeredValue(place.key.text), at: place)
      return stored(value, at: place) == stored(registered, at: place)
    }
  }

  /// Removes the key: what is read then is the default, or what another layer has. The same as assigning `nil` to an
  /// optional property; while the key is forced, it takes effect when it is released.
  public func reset() { withPlace { $0.store(nil) } }
}
