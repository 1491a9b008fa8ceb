// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PreferencesCore

// Whether a key is forced, by whom, and where a value comes from.

@c @implementation public func mp_is_forced(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ isForced: UnsafeMutablePointer<Bool>!
) -> mp_status {
  if let preferences, let key, let isForced, let bytes = Input.plainKey(key) {
    isForced.pointee = Input.withList(preferences) { $0.isForced(utf8: bytes) }
    return MP_OK
  }
  return answer(isForced, otherwise: true, "is_forced") { () throws(Failure) in
    try Input.preferences(preferences).isForced(try Input.key(key))
  }
}

@c @implementation public func mp_is_forced_in_domain(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ domain: UnsafePointer<CChar>!,
  _ isForced: UnsafeMutablePointer<Bool>!
) -> mp_status {
  answer(isForced, otherwise: true, "is_forced") { () throws(Failure) in
    try Input.preferences(preferences).isForced(try Input.key(key), inDomain: try Input.domain(domain, "domain"))
  }
}

@c @implementation public func mp_forced_by(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ profiles: UnsafeMutablePointer<UnsafeMutablePointer<mp_profile>?>!, _ count: UnsafeMutablePointer<Int>!
) -> mp_status {
  count?.pointee = 0
  return answer(profiles, otherwise: nil, "profiles") { () throws(Failure) in
    guard let count else { throw .null("count") }
    let forcedBy = try Input.preferences(preferences).forcedBy(try Input.key(key))
    count.pointee = forcedBy.count
    return Output.block(
      forcedBy, texts: { [$0.profile, $0.title] },
      element: { entry, texts in
        mp_profile(id: texts[0], title: texts[1], generation: entry.generation, until: entry.until ?? Int64.max)
      })
  }
}

extension mp_layer {
  init(_ layer: Layer) { self.init(rawValue: UInt32(layer.order + 1)) }
}

/// In the order of `mp_layer`, which has none before the first.
nonisolated(unsafe) private let layerNames = Layer.allCases.map { ConstantText.kept($0.rawValue) }

@c @implementation public func mp_layer_name(_ layer: mp_layer) -> UnsafePointer<CChar>! {
  let place = Int(layer.rawValue) - 1
  return layerNames.indices.contains(place) ? layerNames[place] : nil
}

@c @implementation public func mp_get_layer(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ layer: UnsafeMutablePointer<mp_layer>!
) -> mp_status {
  answer(layer, otherwise: MP_LAYER_NONE, "layer") { () throws(Failure) in
    try Input.preferences(preferences).resolution(of: try Input.key(key)).winner.map(mp_layer.init) ?? MP_LAYER_NONE
  }
}

@c @implementation public func mp_get_sources(
  _ preferences: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ sources: UnsafeMutablePointer<UnsafeMutablePointer<mp_source>?>!, _ count: UnsafeMutablePointer<Int>!
) -> mp_status {
  count?.pointee = 0
  return answer(sources, otherwise: nil, "sources") { () throws(Failure) in
    guard let count else { throw .null("count") }
    let considered = try Input.preferences(preferences).resolution(of: try Input.key(key)).considered
    count.pointee = considered.count
    return Output.block(
      considered, texts: { [$0.domain, $0.path] },
      element: { source, texts in
        mp_source(layer: mp_layer(source.layer), domain: texts[0], path: texts[1], has_value: source.value != nil)
      })
  }
}
