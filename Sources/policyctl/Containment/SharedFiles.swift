import CProcesses
import CommandLineKit
import ForcedDomain
import Glibc
import LinuxFiles

/// A file or folder that is shared with a contained program, held so that what was checked is what is mounted.
struct SharedFile {
  /// Where it is outside, without any link.
  let source: String
  /// Where it is inside: the same, or another name that it has outside (a `~/Documents` that is a link to a server's folder).
  /// What lies in the home lies in the container's.
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
  static func hold(_ path: String, places: PreferencePlaces) throws(Failure) -> [SharedFile] {
    guard let real = SymbolicLink.resolved(path) else { throw .missing }
    if let why = places.refusal(of: real) { throw .refused(why) }
    if let folder = plantableLink(on: path, places) {
      throw .refused(
        "leads through a link in \(folder), where a contained program may have put it; name \(real) where that is meant"
      )
    }
    let descriptor = process_hold(real)
    if descriptor < 0 { throw .refused("can't be opened: \(Errno.current)") }
    // Whoever put a link there meanwhile has gained nothing.
    guard SymbolicLink.target(of: "/proc/self/fd/\(descriptor)") == real,
      let metadata = try? FileMetadata.of("/proc/self/fd/\(descriptor)")
    else { throw .refused("is being changed by somebody") }
    guard metadata.isDirectory || metadata.isRegularFile else { throw .refused("is neither a file nor a folder") }
    let file = SharedFile(source: real, path: real, descriptor: descriptor, isDirectory: metadata.isDirectory)
    guard let alias = alias(of: path), alias != real else { return [file] }
    if let why = places.refusal(of: alias) { throw .refused(why) }
    return [
      file, SharedFile(source: real, path: alias, descriptor: descriptor, isDirectory: metadata.isDirectory),
    ]
  }

  /// The folder of a link on the way that a contained program may have planted: one that the user can write, but for the
  /// home itself, which is never shared. Else a program to which `~/Documents` is shared could make `~/Documents/sub` lead to
  /// what is shared with nobody, for the next program to which that is granted.
  private static func plantableLink(on path: String, _ places: PreferencePlaces) -> String? {
    var left = path.split(separator: "/").map(String.init)[...]
    var reached = "/"
    var links = 0
    while let name = left.popFirst(), links < 64 {
      if name == "." { continue }
      if name == ".." {
        reached = FilePath.parent(of: reached)
        continue
      }
      let next = FilePath.join(reached, name)
      guard let target = SymbolicLink.target(of: next) else {
        reached = next
        continue
      }
      links += 1
      if reached != places.home, access(reached, W_OK) == 0 { return reached }
      left = target.split(separator: "/").map(String.init) + left
      if target.hasPrefix("/") { reached = "/" }
    }
    return nil
  }

  /// The path with no link in it but the last component, which may be one.
  private static func alias(of path: String) -> String? {
    let name = FilePath.name(of: path)
    if name.isEmpty || name == "." || name == ".." { return nil }
    return SymbolicLink.resolved(FilePath.parent(of: path)).map { FilePath.join($0, name) }
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
        for file in try SharedFile.hold(Self.absolute(text, user), places: places) { add(file) }
      } catch {
        let why =
          switch error {
          case .missing: "is not there"
          case .refused(let why): why
          }
        Policyctl.warn("the policy shares \(text), which \(why); left out")
      }
    }
    for text in asked {
      do throws(SharedFile.Failure) {
        for file in try SharedFile.hold(Self.absolute(text, user), places: places) { add(file) }
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
