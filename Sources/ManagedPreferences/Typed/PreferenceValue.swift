internal import PropertyList

/// A type that a typed preference stores in a form of its own: `String`, `Bool`, the integers, `Float`, `Double`, `Date`,
/// `Data`, `URL`, and arrays and dictionaries of them.
///
/// `@Preference` takes more: whatever is `RawRepresentable` by one of these, `Codable`, or supports `NSSecureCoding`. Adopt
/// this protocol, which asks for nothing then, to have an enumeration as an element of arrays and dictionaries:
///
/// ```swift
/// enum Tool: String, PreferenceValue { case pen, ruler }
/// final class Prefs: Preferences { @Preference var tools: [Tool] = [.pen] }
/// ```
///
/// The members are the library's own business.
public protocol PreferenceValue: SendableMetatype {
  /// What a property reads; nil where nobody has the key or its value has no such form.
  static func _value(at place: PreferencePlace) -> Self?
  /// The same with what it reads then. (Two members, so that a read through a property, whose type the library does not know,
  /// never handles an optional of that type: that costs more than the read.)
  static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> Self) -> Self
  /// The same from a value in hand.
  static func _value(from form: PreferenceForm) -> Self?
  /// What an element of an array or a dictionary is: never converted from another type.
  static func _element(from form: PreferenceForm) -> Self?
  /// All elements of an array; nil unless each of them is one.
  static func _elements(from form: PreferenceForm) -> [Self]?
  /// What is stored.
  func _form(home: String) throws -> PreferenceForm
}

/// A stored value on its way into a property or out of one.
public struct PreferenceForm {
  let value: PropertyListValue
  /// Where `~` leads in URLs.
  let home: String
}

extension PreferenceValue {
  public static func _value(at place: PreferencePlace) -> Self? { place.form.flatMap { _value(from: $0) } }

  public static func _value(at place: PreferencePlace, else fallback: (PreferencePlace) -> Self) -> Self {
    _value(at: place) ?? fallback(place)
  }

  public static func _elements(from form: PreferenceForm) -> [Self]? {
    guard case .array(let elements) = form.value else { return nil }
    var result: [Self] = []
    result.reserveCapacity(elements.count)
    for element in elements {
      guard let element = _element(from: PreferenceForm(value: element, home: form.home)) else { return nil }
      result.append(element)
    }
    return result
  }
}

// MARK: - Types that adopt the protocol in name only

extension PreferenceValue where Self: RawRepresentable, RawValue: PreferenceValue {
  public static func _value(at place: PreferencePlace) -> Self? {
    RawValue._value(at: place).flatMap(Self.init(rawValue:))
  }

  public static func _value(from form: PreferenceForm) -> Self? {
    RawValue._value(from: form).flatMap(Self.init(rawValue:))
  }

  public static func _element(from form: PreferenceForm) -> Self? {
    RawValue._element(from: form).flatMap(Self.init(rawValue:))
  }

  public func _form(home: String) throws -> PreferenceForm { try rawValue._form(home: home) }
}

extension PreferenceValue where Self: Codable {
  public static func _value(from form: PreferenceForm) -> Self? { CodedPropertyList.decode(form.value) }
  public static func _element(from form: PreferenceForm) -> Self? { CodedPropertyList.decode(form.value) }

  public func _form(home: String) throws -> PreferenceForm {
    PreferenceForm(value: try CodedPropertyList.encode(self), home: home)
  }
}

/// A raw value comes first: it is the native form.
extension PreferenceValue where Self: RawRepresentable & Codable, RawValue: PreferenceValue {
  public static func _value(from form: PreferenceForm) -> Self? {
    RawValue._value(from: form).flatMap(Self.init(rawValue:))
  }

  public static func _element(from form: PreferenceForm) -> Self? {
    RawValue._element(from: form).flatMap(Self.init(rawValue:))
  }

  public func _form(home: String) throws -> PreferenceForm { try rawValue._form(home: home) }
}
