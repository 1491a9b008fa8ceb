import Glibc

/// Data of other projects that lie beside this package, and are not part of it.
enum SharedData {
  /// `shared/` beside the package, or beside the folder that the package is a worktree in; nil, with a word on standard
  /// output, when there is none.
  static let folder: String? = {
    var parts = #filePath.split(separator: "/").dropLast(3)
    for _ in 0..<2 {
      parts = parts.dropLast()
      let candidate = "/" + parts.joined(separator: "/") + "/shared/data"
      if access(candidate, R_OK) == 0 { return candidate }
    }
    print("SKIPPED: shared data not found")
    return nil
  }()

  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return ferror(file) == 0 ? bytes : nil }
      bytes += buffer[..<count]
    }
  }

  static func readText(_ path: String) -> String? { read(path).map { String(decoding: $0, as: UTF8.self) } }
}
