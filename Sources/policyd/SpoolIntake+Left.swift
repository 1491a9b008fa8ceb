import AuditEvents
import Glibc
import LinuxFiles

// What is left alone.
extension SpoolIntake {
  /// Names that are looked at in a folder: a user may put any number there.
  static let maximumNames = 1024

  /// The files in a spool's folder that hold events of another host or installation, or may: their names, sorted.
  func left(in spool: Spool) -> [String] {
    withRights(of: spool) { folder in Self.someNames(in: folder).filter(isForeign).sorted() } ?? []
  }

  private func isForeign(_ file: String) -> Bool {
    let name = SpoolName(stem: String(file.prefix { $0 != "." }))
    guard [name.file, name.taken, name.retaken].contains(file), name.stem != origin.stem else { return false }
    return name.stem == SpoolName.old ? !origin.root.isEmpty : name.stem.hasPrefix(SpoolName.old + "-")
  }

  private static func someNames(in folder: borrowing OpenDirectory) -> [String] {
    // Opened anew, since a stream owns its descriptor and its place in the directory.
    let number = openat(folder.descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { return [] }
    guard let stream = fdopendir(number) else {
      close(number)
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while names.count < maximumNames, let entry = readdir(stream) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }
}
