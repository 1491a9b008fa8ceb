import LinuxFiles

/// Time zones by name, against the machine's zone database.
extension TreeValidation {
  private static let database = "/usr/share/zoneinfo"

  mutating func checkTimeZones() {
    var answers: [String: Bool] = [:]
    var isInstalled: Bool?
    for (source, scope) in scopes {
      for window in scope.windows {
        let zone = window.timeZone
        let isKnown = answers[zone.value] ?? Self.isKnown(zone.value)
        answers[zone.value] = isKnown
        if isKnown { continue }
        if isInstalled == nil { isInstalled = (try? FileMetadata.of(Self.database)) != nil }
        if isInstalled == true {
          sinks[source].report(.unknownTimeZone, at: zone.position, "there is no time zone '\(zone.value.shown)'")
        } else {
          sinks[source].report(
            .unknownTimeZone, at: zone.position,
            "the time zone '\(zone.value.shown)' can't be checked: \(Self.database) is missing",
            hint: "install the package tzdata")
        }
      }
    }
  }

  /// A name of the database: path-safe, not one that each machine defines for itself, and a file in the TZif format.
  static func isKnown(_ name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isSafe = parts.allSatisfy { part in
      !part.isEmpty
        && part.utf8.allSatisfy {
          ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2B || $0 == 0x2D
            || $0 == 0x5F
        }
    }
    guard isSafe, let first = parts.first, !["localtime", "posixrules", "posix", "right"].contains(first) else {
      return false
    }
    guard let file = try? WholeFile.read(FilePath.join(database, name), limit: 1 << 20) else { return false }
    return file.bytes.starts(with: Array("TZif".utf8))
  }
}
