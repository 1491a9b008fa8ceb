public import ForcedDomain
internal import Glibc

/// Where the policies of an installation come from, for messages and for the marker.
struct PolicyOrigin {
  /// As it was given.
  let path: String
  /// nil for a refresh, which leaves what the marker says.
  let source: InstalledSource?

  static func folder(_ path: String) -> PolicyOrigin {
    PolicyOrigin(path: path, source: .folder(InstalledSource.absolute(path)))
  }

  static func bundleFile(_ path: String) -> PolicyOrigin {
    PolicyOrigin(path: path, source: .bundleFile(InstalledSource.absolute(path)))
  }
}

extension InstalledSource {
  /// A path as it was given, from the root on: what a marker holds, and what `status` compares with.
  ///
  /// Symbolic links stay, since an administrator means the link; so does `..` behind a name, which may be one.
  public static func absolute(_ path: String) -> String {
    var parts: [Substring] = path.hasPrefix("/") ? [] : currentDirectory().split(separator: "/")
    // The working directory is given without links, so that a leading ".." can be followed by text.
    var isPhysical = !path.hasPrefix("/")
    for part in path.split(separator: "/") where part != "." {
      if part == "..", isPhysical {
        _ = parts.popLast()
      } else {
        isPhysical = false
        parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static func currentDirectory() -> String {
    guard let bytes = getcwd(nil, 0) else { return "/" }
    defer { free(bytes) }
    return String(cString: bytes)
  }
}
