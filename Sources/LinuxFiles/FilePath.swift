/// Path text. Nothing here asks the file system.
public enum FilePath {
  /// The most bytes that the name of a file or directory may have (`NAME_MAX`).
  public static let maximumNameBytes = 255

  public static func join(_ directory: String, _ name: String) -> String {
    if directory.isEmpty { return name }
    return directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
  }

  /// A file's name with an ending: as much of `name` as leaves room for it.
  public static func name(_ name: String, ending: String) -> String {
    var name = name[...]
    while name.utf8.count + ending.utf8.count > maximumNameBytes, !name.isEmpty { name.removeLast() }
    return name + ending
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
