import CProcesses
import CommandLineKit
import ForcedDomain
import LinuxFiles

/// A file or folder that is shared with a contained program, held so that what was checked is what is mounted.
struct SharedFile {
  /// Without any link; where it is outside and, but for what lies in the home, inside.
  let path: String
  /// An O_PATH descriptor, open for as long as this process.
  let descriptor: Int32
  let isDirectory: Bool

  enum Failure: Error {
    case missing
    /// Why not, as it goes on after the path.
    case refused(String)
  }

  /// - Parameters:
  ///   - path: absolute; links in it are followed once, here.
  ///   - places: what may not be shared.
  static func hold(_ path: String, places: PreferencePlaces) throws(Failure) -> SharedFile {
    guard let real = SymbolicLink.resolved(path) else { throw .missing }
    if let why = places.refusal(of: real) { throw .refused(why) }
    let descriptor = process_hold(real)
    if descriptor < 0 { throw .refused("can't be opened: \(Errno.current)") }
    // Whoever put a link there meanwhile has gained nothing.
    guard SymbolicLink.target(of: "/proc/self/fd/\(descriptor)") == real,
      let metadata = try? FileMetadata.of("/proc/self/fd/\(descriptor)")
    else { throw .refused("is being changed by somebody") }
    guard metadata.isDirectory || metadata.isRegularFile else { throw .refused("is neither a file nor a folder") }
    return SharedFile(path: real, descriptor: descriptor, isDirectory: metadata.isDirectory)
  }
}

/// What the policy and the command line share, beside preferences.
struct SharedFiles {
  private(set) var files: [SharedFile] = []

  /// A grant of the policy that can't be had is left out, with a warning; one that was asked for on the command line ends it.
  init(
    granted: [String], asked: [String], user: ContainedUser, places: PreferencePlaces
  ) throws(CommandFailure) {
    for text in granted {
      do throws(SharedFile.Failure) {
        add(try SharedFile.hold(Self.absolute(text, user), places: places))
      } catch {
        let why =
          switch error {
          case .missing: "is not there"
          case .refused(let why): why
          }
        StandardStreams.writeError(
          "\(Policyctl.name): warning: the policy shares \(TerminalText.escape(text)), which \(TerminalText.escape(why)); left out\n"
        )
      }
    }
    for text in asked {
      do throws(SharedFile.Failure) {
        add(try SharedFile.hold(Self.absolute(text, user), places: places))
      } catch {
        switch error {
        case .missing: throw CommandFailure(.noInput, "--files \(TerminalText.escape(text)) is not there")
        case .refused(let why):
          throw CommandFailure(
            .notPermitted, "--files \(TerminalText.escape(text)) can't be shared: it \(TerminalText.escape(why))")
        }
      }
    }
  }

  /// Whether a path is shared.
  func contains(_ path: String) -> Bool { files.contains { PathText.contains($0.path, path) } }

  /// What lies in something else that is shared is there already.
  private mutating func add(_ file: SharedFile) {
    if contains(file.path) { return }
    files.removeAll { PathText.contains(file.path, $0.path) }
    files.append(file)
  }

  /// `~` is the home outside; relative paths, which only the command line has, begin where the command was typed.
  private static func absolute(_ text: String, _ user: ContainedUser) -> String {
    if text == "~" { return user.home }
    if text.hasPrefix("~/") { return FilePath.join(user.home, PathText.below("~", text)) }
    return text.hasPrefix("/") ? text : FilePath.join(WorkingDirectory.path, text)
  }
}
