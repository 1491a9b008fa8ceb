/// The numbers of the file format; Documentation/forced-domain-format.md is its description.
enum Format {
  static let version: UInt16 = 1
}
