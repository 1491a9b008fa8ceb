import CManagedPreferences
import Dispatch
import Foundation
import PropertyList
import Testing

@testable import ManagedPreferencesC

/// What C must not pass: every call refuses it with a status and its words, and leaves a harmless result behind.
@Suite struct CallTests {
  struct Call: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let status: mp_status
    let message: String
    let call: @Sendable (OpaquePointer) -> mp_status

    init(_ status: mp_status, _ message: String, _ call: @escaping @Sendable (OpaquePointer) -> mp_status) {
      testDescription = message
      self.status = status
      self.message = message
      self.call = call
    }
  }

  /// A string that is not UTF-8: a surrogate.
  static let badText = [0xED, 0xA0, 0x80, 0].map { CChar(truncatingIfNeeded: $0) }

  @Test(arguments: nulls + keys + texts + names + types + ranges) func refuses(_ call: Call) throws {
    let handle = try Sandbox().handle()
    #expect(call.call(handle.pointer) == call.status)
    #expect(String(cString: mp_error_message()) == call.message)
  }

  static let nulls: [Call] = [
    Call(MP_ERROR_NULL, "mp_open: 'preferences' is NULL") { _ in mp_open(nil) },
    Call(MP_ERROR_NULL, "mp_open_suite: 'suite' is NULL") { _ in
      var opened: OpaquePointer? = OpaquePointer(bitPattern: 8)
      defer { #expect(opened == nil) }
      return mp_open_suite(nil, &opened)
    },
    Call(MP_ERROR_NULL, "mp_open_user: 'user' is NULL") { _ in
      var opened: OpaquePointer?
      return mp_open_user(nil, &opened)
    },
    Call(MP_ERROR_NULL, "mp_set_application_identifier: 'identifier' is NULL") { _ in
      mp_set_application_identifier(nil)
    },
    Call(MP_ERROR_NULL, "mp_get_application_identifier: 'identifier' is NULL") { _ in
      mp_get_application_identifier(nil)
    },
    Call(MP_ERROR_NULL, "mp_set_arguments: 'arguments' is NULL") { _ in mp_set_arguments(nil, 1) },
    Call(MP_ERROR_NULL, "mp_get_value: 'preferences' is NULL") { _ in
      var value: OpaquePointer?
      return mp_get_value(nil, "k", &value)
    },
    Call(MP_ERROR_NULL, "mp_get_string_array: 'count' is NULL") { handle in
      var strings: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
      return mp_get_string_array(handle, "k", &strings, nil)
    },
    Call(MP_ERROR_NULL, "mp_get_data: 'length' is NULL") { handle in
      var bytes: UnsafeMutableRawPointer?
      return mp_get_data(handle, "k", &bytes, nil)
    },
    Call(MP_ERROR_NULL, "mp_forced_by: 'profiles' is NULL") { handle in
      var count = 9
      defer { #expect(count == 0) }
      return mp_forced_by(handle, "k", nil, &count)
    },
    Call(MP_ERROR_NULL, "mp_set_value: 'value' is NULL") { mp_set_value($0, "k", nil) },
    Call(MP_ERROR_NULL, "mp_set_string: 'text' is NULL") { mp_set_string($0, "k", nil) },
    Call(MP_ERROR_NULL, "mp_set_data: 'bytes' is NULL") { mp_set_data($0, "k", nil, 3) },
    Call(MP_ERROR_NULL, "mp_set_url: 'url' is NULL") { mp_set_url($0, "k", nil, nil) },
    Call(MP_ERROR_NULL, "mp_set_string_array: 'strings[1]' is NULL") { handle in
      "a".withCString { mp_set_string_array(handle, "k", [$0, nil], 2) }
    },
    Call(MP_ERROR_NULL, "mp_remove: 'key' is NULL") { mp_remove($0, nil) },
    Call(MP_ERROR_NULL, "mp_register_defaults: 'defaults' is NULL") { _ in mp_register_defaults(nil) },
    Call(MP_ERROR_NULL, "mp_synchronize: 'preferences' is NULL") { _ in mp_synchronize(nil) },
    Call(MP_ERROR_NULL, "mp_add_suite: 'suite' is NULL") { mp_add_suite($0, nil) },
    Call(MP_ERROR_NULL, "mp_set_persistent_domain: 'dictionary' is NULL") { mp_set_persistent_domain($0, "d", nil) },
    Call(MP_ERROR_NULL, "mp_value_get_string: 'value' is NULL") { _ in
      var text: UnsafePointer<CChar>?
      return mp_value_get_string(nil, &text, nil)
    },
    Call(MP_ERROR_NULL, "mp_value_new_array: 'elements[0]' is NULL") { _ in
      var value: OpaquePointer?
      return mp_value_new_array([nil], 1, &value)
    },
    Call(MP_ERROR_NULL, "mp_value_new_dictionary: 'keys' is NULL") { _ in
      var value: OpaquePointer?
      return mp_value_new_dictionary(nil, nil, 1, &value)
    },
    Call(MP_ERROR_NULL, "mp_observe_key: 'callback' is NULL") { handle in
      var observation: OpaquePointer?
      return mp_observe_key(handle, "k", 0, nil, nil, nil, &observation)
    },
    Call(MP_ERROR_NULL, "mp_observe: 'observation' is NULL") { handle in
      mp_observe(handle, { _, _ in }, nil, nil, nil)
    },
  ]

  static let keys: [Call] = [
    Call(MP_ERROR_KEY, "mp_get_bool: the key is empty") { handle in
      var flag = true
      defer { #expect(!flag) }
      return mp_get_bool(handle, "", &flag)
    },
    Call(MP_ERROR_KEY, "mp_set_bool: the key is empty") { mp_set_bool($0, "", true) },
    Call(MP_ERROR_KEY, "mp_is_forced: the key is empty") { handle in
      var isForced = false
      defer { #expect(isForced) }
      return mp_is_forced(handle, "", &isForced)
    },
    Call(MP_ERROR_KEY, "mp_set_bool: a key has more than 30 combining marks in a row") { handle in
      mp_set_bool(handle, String(repeating: "\u{301}", count: 100), true)
    },
    Call(MP_ERROR_KEY, "mp_value_new_dictionary: the key \"é\" stands twice in one dictionary") { _ in
      let number = ValueHandle.owned(.integer(1))
      defer { mp_value_release(number) }
      var value: OpaquePointer?
      return "e\u{301}".withCString { first in
        "\u{e9}".withCString { mp_value_new_dictionary([first, $0], [number, number], 2, &value) }
      }
    },
    Call(MP_ERROR_KEY, "mp_set_persistent_domain: 'dictionary' has an empty key") { handle in
      let values = ValueHandle.owned(.dictionary(["": .integer(1)]))
      defer { mp_value_release(values) }
      return mp_set_persistent_domain(handle, "d", values)
    },
    Call(MP_ERROR_KEY, "mp_register_defaults: 'defaults' has an empty key") { _ in
      let values = ValueHandle.owned(.dictionary(["": .integer(1)]))
      defer { mp_value_release(values) }
      return mp_register_defaults(values)
    },
  ]

  static let texts: [Call] = [
    Call(MP_ERROR_ENCODING, "mp_get_integer: 'key' is not UTF-8") { handle in
      var number: Int64 = 7
      defer { #expect(number == 0) }
      return mp_get_integer(handle, badText, &number)
    },
    Call(MP_ERROR_ENCODING, "mp_set_string: 'text' is not UTF-8") { mp_set_string($0, "k", badText) },
    Call(MP_ERROR_ENCODING, "mp_add_suite: 'suite' is not UTF-8") { mp_add_suite($0, badText) },
    Call(MP_ERROR_ENCODING, "mp_set_application_identifier: 'identifier' is not UTF-8") { _ in
      mp_set_application_identifier(badText)
    },
    Call(MP_ERROR_ENCODING, "mp_set_string_array: 'strings[0]' is not UTF-8") { handle in
      badText.withUnsafeBufferPointer { mp_set_string_array(handle, "k", [$0.baseAddress], 1) }
    },
    Call(MP_ERROR_ENCODING, "mp_value_new_string_with_length: 'bytes' is not UTF-8") { _ in
      var value: OpaquePointer?
      return mp_value_new_string_with_length(badText, 3, &value)
    },
  ]

  static let names: [Call] = [
    Call(MP_ERROR_NAME, "mp_add_suite: a domain's name can't contain '/': ../evil") { mp_add_suite($0, "../evil") },
    Call(MP_ERROR_NAME, "mp_remove_suite: a domain's name can't be empty") { mp_remove_suite($0, "") },
    Call(
      MP_ERROR_NAME,
      "mp_add_suite: \"org.example.Editor\" is in every search list of this application already"
    ) { mp_add_suite($0, "org.example.Editor") },
    Call(
      MP_ERROR_NAME, "mp_get_persistent_domain: a domain's name can't be longer than 216 bytes; this one has 217"
    ) { handle in
      var value: OpaquePointer?
      return mp_get_persistent_domain(handle, String(repeating: "x", count: 217), &value)
    },
    Call(MP_ERROR_NAME, "mp_set_volatile_domain: a domain's name can't be empty") {
      mp_set_volatile_domain($0, "", nil)
    },
    Call(MP_ERROR_NAME, "mp_is_forced_in_domain: a domain's name can't begin with '.': .x") { handle in
      var isForced = false
      defer { #expect(isForced) }
      return mp_is_forced_in_domain(handle, "k", ".x", &isForced)
    },
    Call(MP_ERROR_EXISTS, "mp_set_volatile_domain: a volatile domain \"NSArgumentDomain\" exists; remove it first") {
      let values = ValueHandle.owned(.dictionary([:]))
      defer { mp_value_release(values) }
      return mp_set_volatile_domain($0, "NSArgumentDomain", values)
    },
  ]

  static let types: [Call] = [
    Call(MP_ERROR_TYPE, "mp_register_defaults: 'defaults' is not a dictionary") { _ in
      let value = ValueHandle.owned(.array([]))
      defer { mp_value_release(value) }
      return mp_register_defaults(value)
    },
    Call(MP_ERROR_TYPE, "mp_value_get_element: the value's type is dictionary, not array") { _ in
      let value = ValueHandle.owned(.dictionary([:]))
      defer { mp_value_release(value) }
      var element: OpaquePointer?
      return mp_value_get_element(value, 0, &element)
    },
    Call(MP_ERROR_TYPE, "mp_value_get_boolean: the value's type is integer, not boolean") { _ in
      let value = ValueHandle.owned(.integer(1))
      defer { mp_value_release(value) }
      var flag = true
      defer { #expect(!flag) }
      return mp_value_get_boolean(value, &flag)
    },
  ]

  static let ranges: [Call] = [
    Call(MP_ERROR_RANGE, "mp_set_date: the date is outside the years 0000 to 9999") { mp_set_date($0, "k", .infinity) },
    Call(MP_ERROR_RANGE, "mp_set_data: there can't be that many 'bytes'") { mp_set_data($0, "k", "x", -1) },
    Call(MP_ERROR_RANGE, "mp_value_get_member: there is no index 18446744073709551615 among 0") { _ in
      let value = ValueHandle.owned(.dictionary([:]))
      defer { mp_value_release(value) }
      return mp_value_get_member(value, -1, nil, nil, nil)
    },
    Call(MP_ERROR_RANGE, "mp_value_decode: 77 is no format") { _ in
      var value: OpaquePointer?
      return mp_value_decode("x", 1, mp_format(rawValue: 77), &value)
    },
    Call(MP_ERROR_RANGE, "mp_value_encode: MP_FORMAT_ANY is for reading only") { _ in
      let value = ValueHandle.owned(.integer(1))
      defer { mp_value_release(value) }
      var bytes: UnsafeMutableRawPointer?
      var length = 0
      return mp_value_encode(value, MP_FORMAT_ANY, &bytes, &length)
    },
    Call(MP_ERROR_FORMAT, "mp_value_encode: [0]: JSON cannot hold the number inf") { _ in
      let value = ValueHandle.owned(.array([.real(.infinity)]))
      defer { mp_value_release(value) }
      var bytes: UnsafeMutableRawPointer?
      var length = 9
      defer { #expect(bytes == nil && length == 0) }
      return mp_value_encode(value, MP_FORMAT_JSON, &bytes, &length)
    },
  ]

  /// Whatever nests can be stored, and what can't be stored can't be made.
  @Test func depth() throws {
    let sandbox = try Sandbox()
    let handle = try sandbox.handle()
    var value: OpaquePointer?
    #expect(mp_value_new_array(nil, 0, &value) == MP_OK)
    for _ in 1..<511 {
      let inner = value
      #expect(mp_value_new_array([inner], 1, &value) == MP_OK)
      mp_value_release(inner)
    }
    var deeper: OpaquePointer?
    #expect(mp_value_new_array([value], 1, &deeper) == MP_ERROR_RANGE)
    #expect(
      String(cString: mp_error_message()) == "mp_value_new_array: containers nest deeper than 511 levels")
    #expect(mp_set_value(handle.pointer, "deep", value) == MP_OK)
    #expect(mp_synchronize(handle.pointer) == MP_OK)
    var found: OpaquePointer?
    #expect(mp_get_value(try sandbox.handle().pointer, "deep", &found) == MP_OK)
    #expect(mp_value_equal(value, found))
    // A document of its own may have one level more than fits into a domain.
    let document = String(repeating: "(", count: 512) + String(repeating: ")", count: 512)
    #expect(mp_value_decode(document, 1024, MP_FORMAT_OPENSTEP, &deeper) == MP_OK)
    #expect(mp_set_value(handle.pointer, "deeper", deeper) == MP_ERROR_RANGE)
    for value in [value, found, deeper] { mp_value_release(value) }
  }

  /// Each thread has its own words.
  @Test func messagesOfThreads() {
    #expect(mp_open(nil) == MP_ERROR_NULL)
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      #expect(String(cString: mp_error_message()) == "")
      #expect(mp_synchronize(nil) == MP_ERROR_NULL)
      #expect(String(cString: mp_error_message()) == "mp_synchronize: 'preferences' is NULL")
      done.signal()
    }
    thread.start()
    done.wait()
    #expect(String(cString: mp_error_message()) == "mp_open: 'preferences' is NULL")
  }

  @Test func unwritableDisk() throws {
    let sandbox = try Sandbox()
    // In the place of the file: it can be neither read nor replaced, by root either.
    let place = sandbox.configuration + "/org.example.Editor.plist"
    try FileManager.default.createDirectory(atPath: place + "/x", withIntermediateDirectories: true)
    let handle = try sandbox.handle()
    #expect(mp_set_integer(handle.pointer, "k", 1) == MP_OK)
    #expect(mp_synchronize(handle.pointer) == MP_ERROR_WRITE)
    let message = String(cString: mp_error_message())
    #expect(message.hasPrefix("mp_synchronize: \(place): "), "\(message)")
    var faults: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var count = 0
    #expect(mp_get_faults(handle.pointer, &faults, &count) == MP_OK)
    #expect(count > 0 && message.contains(String(cString: faults![0]!)))
    mp_free(faults)
    try FileManager.default.removeItem(atPath: place)
    #expect(mp_synchronize(handle.pointer) == MP_OK)
    #expect(try sandbox.stored() == ["k": .integer(1)])
  }
}

/// Waits for something that another thread does; false after a minute, which no test passes.
func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(60)
  while ContinuousClock.now < deadline {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(10))
  }
  return condition()
}
