internal import Foundation
internal import PropertyList

/// Between the values of a property and what is stored for them, chosen by the type when the property is declared.
///
/// An optional is its wrapped type with one more value: nil, for which nothing is stored.
struct PreferenceCodec<Value> {
  /// What the place has; nil where the property has its default.
  let read: (PreferencePlace) -> Value?
  let decode: (PreferenceForm) -> Value?
  /// nil removes the key.
  let encode: (Value, _ home: String) throws -> PropertyListValue?
  /// What holds where there is no default either.
  let none: Value?
}

extension PreferenceCodec where Value: PreferenceValue {
  static var native: Self {
    Self(
      read: { Value._value(at: $0) }, decode: { Value._value(from: $0) }, encode: { try $0._form(home: $1).value },
      none: nil)
  }
}

extension PreferenceCodec where Value: RawRepresentable, Value.RawValue: PreferenceValue {
  static var raw: Self {
    Self(
      read: { Value.RawValue._value(at: $0).flatMap { Value(rawValue: $0) } },
      decode: { Value.RawValue._value(from: $0).flatMap { Value(rawValue: $0) } },
      encode: { try $0.rawValue._form(home: $1).value }, none: nil)
  }
}

extension PreferenceCodec where Value: Codable {
  static var coded: Self {
    Self(
      read: { $0.form.flatMap { CodedPropertyList.decode($0.value) } }, decode: { CodedPropertyList.decode($0.value) },
      encode: { value, _ in try CodedPropertyList.encode(value) }, none: nil)
  }
}

extension PreferenceCodec where Value: NSObject & NSSecureCoding {
  static var archived: Self {
    Self(
      read: { $0.form.flatMap { ArchivedObject.decode($0.value, Value.self) } },
      decode: { ArchivedObject.decode($0.value, Value.self) },
      encode: { value, _ in try ArchivedObject.encode(value) }, none: nil)
  }
}

extension PreferenceCodec {
  static func optional<Wrapped>(_ codec: PreferenceCodec<Wrapped>) -> Self where Value == Wrapped? { wrapping(codec) }
}

extension PreferenceCodec where Value: OptionalPreference {
  static func wrapping(_ codec: PreferenceCodec<Value.Wrapped>) -> Self {
    Self(
      read: { codec.read($0).map { Value._wrap($0) } },
      decode: { codec.decode($0).map { Value._wrap($0) } },
      encode: { value, home in try value._wrapped.flatMap { try codec.encode($0, home) } },
      none: Value._wrap(nil))
  }
}

/// An optional, as the type of a property that need not have a value. The members are the library's own business.
public protocol OptionalPreference {
  associatedtype Wrapped
  static func _wrap(_ wrapped: Wrapped?) -> Self
  var _wrapped: Wrapped? { get }
}

extension Optional: OptionalPreference {
  public static func _wrap(_ wrapped: Wrapped?) -> Wrapped? { wrapped }
  public var _wrapped: Wrapped? { self }
}
