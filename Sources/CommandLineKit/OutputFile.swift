import LinuxFiles

/// A file that the user names for output. Only a regular file is ever replaced: putting a file in the place of a device, a
/// pipe or a link would destroy what others use (`-o /dev/null`, run by root, takes the device from the whole machine).
public enum OutputFile {
  /// Where the bytes have gone.
  public enum Outcome: Sendable {
    /// The file has new contents.
    case file
    /// A device or a pipe has read them; it may be standard output.
    case stream
  }

  /// Writes a file whole, or into the device or pipe that the path leads to.
  ///
  /// - Parameter mode: of a new file.
  public static func write(
    _ bytes: [UInt8], followedBy rest: [UInt8] = [], to path: String, mode: UInt32
  ) throws(CommandFailure) -> Outcome {
    do throws(FileError) {
      if isStream(path) {
        let file = try FileDescriptor.open(path, [.writeOnly])
        do throws(Errno) {
          try file.write(bytes)
          try file.write(rest)
        } catch {
          throw FileError("write", path: path, errno: error)
        }
        return .stream
      }
    } catch {
      throw CommandFailure(error, while: .creating)
    }
    try requireTaking(path)
    do throws(FileError) {
      try AtomicReplacement.write(bytes, followedBy: rest, to: path, mode: mode)
    } catch {
      throw CommandFailure(error, while: .creating)
    }
    return .file
  }

  /// An error where `write` would refuse the path: what is asked before long work.
  public static func requireTaking(_ path: String) throws(CommandFailure) {
    if !isStream(path) { try requireReplaceable(path) }
  }

  /// An error where something stands at the path that is no regular file. For what a device or a pipe can't be: a file that is
  /// read again later, such as a key.
  public static func requireReplaceable(_ path: String) throws(CommandFailure) {
    guard let metadata = try? FileMetadata.of(path, followingLinks: false), !metadata.isRegularFile else { return }
    let what =
      if metadata.isDirectory {
        "a folder"
      } else if metadata.isSymbolicLink {
        "a symbolic link"
      } else {
        "no regular file"
      }
    throw CommandFailure(.cannotCreate, "\(TerminalText.escape(path)) is \(what), which is not replaced by a file")
  }

  static func isStream(_ path: String) -> Bool {
    guard let metadata = try? FileMetadata.of(path) else { return false }
    return metadata.isCharacterDevice || metadata.isPipe
  }
}
