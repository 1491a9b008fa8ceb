import Glibc
import LinuxFiles
import TestPrograms

/// A folder of its own for one test, with the root, the home and the work folder of the commands that it runs.
public final class Sandbox {
  public let path: String
  public var root: String { path + "/root" }
  public var home: String { path + "/home" }
  public var work: String { path + "/work" }

  /// - Parameter name: what its folder's name begins with.
  public init(named name: String) throws {
    var template = Array("/tmp/\(name)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno.current }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try Directory.create(root)
    try Directory.create(home)
    try Directory.create(work)
    chmod(path, 0o755)
  }

  deinit { try? Directory.removeTree(path) }

  public func write(_ text: String, to name: String) throws {
    let file = name.hasPrefix("/") ? name : work + "/" + name
    try Directory.createAll(FilePath.parent(of: file))
    try AtomicReplacement.write(Array(text.utf8), to: file, mode: 0o644)
  }

  /// Writes a script that can be run. Another process writes it: a program that a test starts at the same time keeps a file of
  /// ours open until it has come to its own code, and what is open for writing can't be run.
  public func writeProgram(_ text: String, to name: String) throws {
    let file = name.hasPrefix("/") ? name : work + "/" + name
    try Directory.createAll(FilePath.parent(of: file))
    let result = execute(
      ["sh", "-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh", file], input: Array("#!/bin/sh\n\(text)\n".utf8))
    if result.exitCode != 0 { throw Errno(rawValue: EIO) }
  }

  public func read(_ name: String) throws -> String {
    String(decoding: try WholeFile.read(name.hasPrefix("/") ? name : work + "/" + name).bytes, as: UTF8.self)
  }

  /// Every file below a folder with its bytes, for "nothing has changed".
  public func contents(of folder: String) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in try Directory.names(in: folder) {
      let file = folder + "/" + name
      let metadata = try FileMetadata.of(file, followingLinks: false)
      if metadata.isDirectory {
        found.merge(try contents(of: file)) { old, _ in old }
      } else if metadata.isRegularFile {
        found[file] = try WholeFile.read(file).bytes
      }
    }
    return found
  }

  public struct Result: Sendable {
    public let exitCode: Int32
    public let output: String
    public let errors: String
  }

  /// A built command, beside the test runner.
  public static func binary(_ name: String) -> String {
    let runner = SymbolicLink.target(of: "/proc/self/exe") ?? CommandLine.arguments[0]
    return FilePath.parent(of: runner) + "/" + name
  }

  /// Runs a program with an environment of its own: nothing of the tester's machine shows in what is printed.
  ///
  /// - Parameter input: what it reads from standard input; nil for nothing.
  public func execute(
    _ words: [String], environment extra: [String: String] = [:], input: [UInt8]? = nil
  ) -> Result {
    let inputPath = path + "/.stdin"
    if let input, (try? AtomicReplacement.write(input, to: inputPath, mode: 0o600)) == nil {
      return Result(exitCode: -1, output: "", errors: "cannot write \(inputPath)")
    }
    let outputPath = path + "/.stdout"
    let errorsPath = path + "/.stderr"
    var environment = [
      "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": home, "TZ": "Europe/Berlin", "LC_ALL": "C.UTF-8",
    ]
    environment.merge(extra) { _, new in new }
    let exitCode: Int32
    do throws(Errno) {
      exitCode = try StartedProgram(
        words, environment: environment, in: work, input: input == nil ? .nothing : .file(inputPath),
        output: .file(outputPath), errors: .file(errorsPath)
      ).wait()
    } catch {
      return Result(exitCode: -1, output: "", errors: "cannot run \(words[0]): \(error)")
    }
    func text(_ path: String) -> String {
      String(decoding: (try? WholeFile.read(path).bytes) ?? [], as: UTF8.self)
    }
    return Result(exitCode: exitCode, output: text(outputPath), errors: text(errorsPath))
  }

  /// The path without this sandbox in front of it, so that texts can be compared.
  public func plain(_ text: String) -> String {
    let own = Array(path.utf8)
    var rest = Array(text.utf8)[...]
    var result: [UInt8] = []
    while let byte = rest.first {
      if rest.starts(with: own) {
        result += Array("SANDBOX".utf8)
        rest = rest.dropFirst(own.count)
      } else {
        result.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
