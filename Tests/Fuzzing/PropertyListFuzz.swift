import Glibc
import PropertyList

/// One execution of the fuzzer over the property-list codecs; `Scripts/fuzz plist` builds and runs it.
///
/// A decoder may refuse its input; what it accepts must be writable in every format that can hold it, and read back as
/// the same value, and be written the same way a second time. The environment variable `FUZZ_FORMAT` names the decoder.
@c(LLVMFuzzerTestOneInput) public func fuzzPropertyList(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let limits = DecodingLimits(
    maximumDepth: 64, maximumBytes: 1 << 20, maximumObjects: 20_000, maximumExpandedBytes: 1 << 20)
  guard let value = try? PropertyListCoding.decode(bytes, as: fuzzedFormat, limits: limits) else { return 0 }
  for format in PropertyListFormat.allCases {
    // The only refusal to write: XML has no control characters, JSON no infinities.
    guard let encoded = try? PropertyListCoding.encode(value, as: format) else {
      precondition(format == .xml || format == .json, "\(format) could not be written")
      continue
    }
    guard let again = try? PropertyListCoding.decode(encoded, as: format) else {
      preconditionFailure("what was written as \(format) cannot be read")
    }
    if format != .json {
      precondition(again == value, "\(format) lost something")
    }
    precondition((try? PropertyListCoding.encode(again, as: format)) == encoded, "\(format) is not canonical")
  }
  _ = value.displayText
  _ = PropertyListValue.data(bytes).urlValue(home: "/home/ann")
  return 0
}

private let fuzzedFormat: PropertyListFormat? =
  switch getenv("FUZZ_FORMAT").map({ String(cString: $0) }) {
  case "binary": .binary
  case "xml": .xml
  case "openstep": .openStep
  case "json": .json
  default: nil
  }
