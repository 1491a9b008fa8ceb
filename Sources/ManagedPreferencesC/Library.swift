// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are C's

public import CManagedPreferences
import Glibc

// What belongs to no handle.

@c @implementation public func mp_free(_ memory: UnsafeMutableRawPointer!) { free(memory) }

@c @implementation public func mp_error_message() -> UnsafePointer<CChar>! { LastFailure.message }

@c @implementation public func mp_status_name(_ status: mp_status) -> UnsafePointer<CChar>! {
  switch status {
  case MP_OK: ConstantText.pointer("MP_OK")
  case MP_ERROR_NULL: ConstantText.pointer("MP_ERROR_NULL")
  case MP_ERROR_KEY: ConstantText.pointer("MP_ERROR_KEY")
  case MP_ERROR_ENCODING: ConstantText.pointer("MP_ERROR_ENCODING")
  case MP_ERROR_NAME: ConstantText.pointer("MP_ERROR_NAME")
  case MP_ERROR_TYPE: ConstantText.pointer("MP_ERROR_TYPE")
  case MP_ERROR_RANGE: ConstantText.pointer("MP_ERROR_RANGE")
  case MP_ERROR_EXISTS: ConstantText.pointer("MP_ERROR_EXISTS")
  case MP_ERROR_TOO_LATE: ConstantText.pointer("MP_ERROR_TOO_LATE")
  case MP_ERROR_USER: ConstantText.pointer("MP_ERROR_USER")
  case MP_ERROR_WRITE: ConstantText.pointer("MP_ERROR_WRITE")
  case MP_ERROR_FORMAT: ConstantText.pointer("MP_ERROR_FORMAT")
  default: nil
  }
}
