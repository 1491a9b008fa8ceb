// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import PropertyList

// Property lists as bytes and as text.

/// - Returns: nil for `MP_FORMAT_ANY`.
private func propertyListFormat(_ format: mp_format) throws(Failure) -> PropertyListFormat? {
  switch format {
  case MP_FORMAT_ANY: nil
  case MP_FORMAT_BINARY: .binary
  case MP_FORMAT_XML: .xml
  case MP_FORMAT_OPENSTEP: .openStep
  case MP_FORMAT_JSON: .json
  default: throw Failure(MP_ERROR_RANGE, "\(format.rawValue) is no format")
  }
}

@c @implementation public func mp_value_decode(
  _ bytes: UnsafeRawPointer!, _ length: Int, _ format: mp_format, _ value: UnsafeMutablePointer<OpaquePointer?>!
) -> mp_status {
  answer(value, otherwise: nil, "value") { () throws(Failure) in
    let format = try propertyListFormat(format)
    let bytes = try Input.bytes(bytes, length)
    do throws(PropertyListError) {
      return ValueHandle.owned(try PropertyListCoding.decode(bytes, as: format))
    } catch {
      throw Failure(MP_ERROR_FORMAT, "\(error)")
    }
  }
}

@c @implementation public func mp_value_encode(
  _ value: OpaquePointer!, _ format: mp_format, _ bytes: UnsafeMutablePointer<UnsafeMutableRawPointer?>!,
  _ length: UnsafeMutablePointer<Int>!
) -> mp_status {
  length?.pointee = 0
  return answer(bytes, otherwise: nil, "bytes") { () throws(Failure) in
    let value = try Input.value(value).value
    guard let length else { throw .null("length") }
    guard let format = try propertyListFormat(format) else {
      throw Failure(MP_ERROR_RANGE, "MP_FORMAT_ANY is for reading only")
    }
    do throws(PropertyListError) {
      let encoded = try PropertyListCoding.encode(value, as: format)
      length.pointee = encoded.count
      return Output.copy(encoded)
    } catch {
      throw Failure(MP_ERROR_FORMAT, "\(error)")
    }
  }
}

@c @implementation public func mp_value_describe(
  _ value: OpaquePointer!, _ text: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!
) -> mp_status {
  answer(text, otherwise: nil, "text") { () throws(Failure) in
    Output.text(try Input.value(value).value.displayText).pointer
  }
}
