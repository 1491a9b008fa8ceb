/// Sizes for people, by the powers of 1024.
enum ByteCount {
  static func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }

  /// `0 B`, `512 B`, `3.4 KiB`, `12 MiB`.
  static func text(_ count: Int64) -> String {
    if count < 1024 { return "\(count) B" }
    var tenths = count * 10
    for unit in ["KiB", "MiB", "GiB", "TiB"] {
      tenths = (tenths + 512) / 1024
      if tenths < 10 * 1024 || unit == "TiB" {
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\((tenths + 5) / 10) \(unit)"
      }
    }
    return "\(count) B"
  }
}
