internal import Foundation
internal import PropertyList

/// Between the values of a property and what is stored for them, chosen by the type when the property is declared.
///
/// An optional is its wrapped type with one more value: nil, for which nothing is stored.
struct PreferenceCodec<Value> {
  /// What the property is: what the place has, else the default.
  let read: (PreferencePlace, _ default: (PreferencePlace) -> Value) -> Value
  /// What the place has; nil where the property has its default.
  let find: (PreferencePlace) -> Value?
  let decode: (PreferenceForm) -> Value?
  /// nil removes the key.
  let encode: (Value, _ home: String) throws -> PropertyListValue?
  /// What holds where there is no default either.
  let none: Value?
}

extension PreferenceCodec where Value: PreferenceValue {
  static var native: Self {
    Self(
      read: { Value._value(at: $0, else: $1) }, find: { Value._value(at: $0) }, decode: { Value._value(from: $0) },
      encode: { try $0._form(home: $1).value }, none: nil)
  }
}

extension PreferenceCodec {
  /// A codec that reads by decoding.
  private init(
    decode: @escaping (PreferenceForm) -> Value?, encode: @escaping (Value, String) throws -> PropertyListValue?
  ) {
    self.init(
      read: { place, fallback in place.form.flatMap(decode) ?? fallback(place) },
      find: { $0.form.flatMap(decode) }, decode: decode, encode: encode, none: nil)
  }
}

extension PreferenceCodec where Value: RawRepresentable, Value.RawValue: PreferenceValue {
  static var raw: Self {
    Self(
      decode: { Value.RawValue._value(from: $0).flatMap { Value(rawValue: $0) } },
      encode: { try $0.rawValue._form(home: $1).value })
  }
}

extension PreferenceCodec where Value: Codable {
  static var coded: Self {
    Self(
      decode: { CodedPropertyList.decode($0.value) }, encode: { value, _ in try CodedPropertyList.encode(value) })
  }
}

extension PreferenceCodec where Value: NSObject & NSSecureCoding {
  static var archived: Self {
    Self(
      decode: { ArchivedObject.decode($0.value, Value.self) },
      encode: { value, _ in try ArchivedObject.encode(value) })
  }
}

extension PreferenceCodec {
  static func optional<Wrapped>(_ codec: PreferenceCodec<Wrapped>) -> Self where Value == Wrapped? {
    Self(
      read: { place, fallback in
        if place.hasDefault { return codec.find(place) ?? fallback(place) }
        return codec.find(place)
      },
      // An optional that is there, around what is read: nil in the outer one would mean the default.
      find: { place in codec.find(place).map { .some($0) } },
      decode: { form in codec.decode(form).map { .some($0) } },
      encode: { value, home in try value.flatMap { try codec.encode($0, home) } },
      none: .some(nil))
  }
}

extension PreferenceCodec where Value: OptionalPreference {
  /// The same where the compiler knows only that the type is an optional.
  static func wrapping(_ codec: PreferenceCodec<Value.Wrapped>) -> Self {
    PreferenceCodec<Value.Wrapped?>.optional(codec) as! Self
  }
}

/// An optional, as the type of a property that need not have a value: `Optional` alone adopts it.
public protocol OptionalPreference {
  associatedtype Wrapped
}

extension Optional: OptionalPreference {}
