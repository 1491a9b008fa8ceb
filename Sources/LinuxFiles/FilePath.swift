/// Path text. Nothing here asks the file system.
public enum FilePath {
  public static func join(_ directory: String, _ name: String) -> String {
    if directory.isEmpty { return name }
    return directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
  }

  /// Everything before the last component; "." for a bare name, "/" for the root.
  public static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
  }

  /// The last component.
  public static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }
}
