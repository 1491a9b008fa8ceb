import CommandLineKit
import Glibc
import LinuxFiles

/// The folder that the command was typed in.
enum WorkingDirectory {
  /// Without any link; "/" where it is gone or can't be told.
  static let path = SymbolicLink.resolved(".") ?? "/"
}

/// The program that is to run, as the container will know it.
struct ContainedCommand {
  /// What is executed, and its arguments.
  let words: [String]
  /// The program's file where the container does not show it anyway: it is shared, read-only, at `place`.
  var file: (shared: SharedFile, place: String)?

  static let programDirectory = ContainerView.ownDirectory + "/program"

  /// Finds the program as a shell would: a bare name on `PATH`, anything else as a path.
  init(
    _ words: [String], user: ContainedUser, shared: SharedFiles, places: PreferencePlaces
  ) throws(CommandFailure) {
    let typed = words[0]
    let isBare = !typed.utf8.contains(UInt8(ascii: "/"))
    guard let found = isBare ? Self.find(typed) : typed, let real = SymbolicLink.resolved(found) else {
      throw CommandFailure(
        .noInput, "\(TerminalText.escape(typed)) \(isBare ? "is not on the PATH" : "is not there")")
    }
    guard let metadata = try? FileMetadata.of(real), metadata.isRegularFile, access(real, X_OK) == 0 else {
      throw CommandFailure(.notPermitted, "\(TerminalText.escape(typed)) is no program that can be run")
    }
    if ContainerView.shows(real) {
      // A path of links may lead there on the outside only.
      let isShownAsTyped = isBare || ContainerView.shows(found)
      self.words = [isShownAsTyped ? typed : real] + words.dropFirst()
      return
    }
    if shared.contains(real) {
      self.words = [real] + words.dropFirst()
      return
    }
    do throws(SharedFile.Failure) {
      let held = try SharedFile.hold(real, places: places)[0]
      // In the home it would need a place in the container's.
      let place =
        PathText.contains(user.realHome, real)
        ? FilePath.join(Self.programDirectory, FilePath.name(of: real)) : real
      file = (held, place)
      self.words = [place] + words.dropFirst()
    } catch {
      switch error {
      case .missing: throw CommandFailure(.noInput, "\(TerminalText.escape(typed)) is not there")
      case .refused(let why):
        throw CommandFailure(.notPermitted, "\(TerminalText.escape(real)) can't be run: it \(TerminalText.escape(why))")
      }
    }
  }

  private static func find(_ name: String) -> String? {
    for folder in (EnvironmentVariables.nonEmpty("PATH") ?? "/usr/bin:/bin").split(separator: ":") {
      let path = FilePath.join(String(folder), name)
      if let metadata = try? FileMetadata.of(path), metadata.isRegularFile, access(path, X_OK) == 0 { return path }
    }
    return nil
  }
}
