import Foundation
import LinuxFiles
import PropertyList
import TestPrograms
import Testing

/// The example programs, against the library as it is installed, below a root with real policy.
@Suite(.enabled(if: Installed.nowhere)) struct ExampleTests {
  let sandbox: Sandbox
  /// Where the library was installed.
  var prefix: String { sandbox.path + "/prefix" }

  enum Example: String, CaseIterable, Sendable { case c, python }

  init() async throws {
    sandbox = try Sandbox()
    _ = try await Built.interface.value
    let run = try await sandbox.run([
      Built.package + "/Scripts/install-library", prefix, FilePath.name(of: Built.folder),
    ])
    try #require(run.status == 0, "\(run.errors)")
  }

  /// What to run, nil (told) where a tool is missing.
  private func program(_ example: Example) async throws -> [String]? {
    switch example {
    case .c:
      guard Built.has("make"), Built.has("pkg-config") else { return skip("make or pkg-config") }
      let run = try await sandbox.run(
        ["make", "-s", "-C", Built.package + "/Examples/C", "OUT=\(sandbox.work)", "CC=clang", "CFLAGS=-Werror"],
        environment: ["PKG_CONFIG_PATH": prefix + "/lib/pkgconfig"])
      try #require(run.status == 0, "\(run.errors)")
      return [sandbox.work + "/editor"]
    case .python:
      guard Built.has("python3") else { return skip("python3") }
      return ["python3", "-B", Built.package + "/Examples/Python/editor.py"]
    }
  }

  private func skip(_ tool: String) -> [String]? {
    print("SKIPPED: there is no \(tool) (Scripts/bootstrap --test installs it)")
    return nil
  }

  private var environment: [String: String] { ["LD_LIBRARY_PATH": prefix + "/lib"] }

  private func run(_ words: [String]) async throws -> Sandbox.Run {
    try await sandbox.run(words, environment: environment)
  }

  @Test func whatIsInstalled() async throws {
    let files = FileManager.default.enumerator(atPath: prefix)?.allObjects.compactMap { $0 as? String }.sorted()
    #expect(
      files == [
        "include", "include/managed_preferences.h", "lib", "lib/libmanagedpreferences.so",
        "lib/libmanagedpreferences.so.0", "lib/libmanagedpreferences.so.0.1.0", "lib/pkgconfig",
        "lib/pkgconfig/managedpreferences.pc",
      ])
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: prefix + "/lib/libmanagedpreferences.so")
    #expect(link == "libmanagedpreferences.so.0")
    let relative = try await sandbox.run([Built.package + "/Scripts/install-library", "here"])
    #expect(
      relative == Sandbox.Run(status: 64, output: "", errors: "install-library: 'here' is not an absolute path\n"))
  }

  @Test(arguments: Example.allCases) func readsSetsAndIsLocked(_ example: Example) async throws {
    guard let program = try await program(example) else { return }
    let name = example == .c ? "editor" : "editor.py"
    #expect(try await run(program) == Sandbox.Run(status: 0, output: "Saving every 60 seconds.\n", errors: ""))
    #expect(
      try await run(program + ["--set", "90"])
        == Sandbox.Run(status: 0, output: "Saving every 90 seconds.\n", errors: ""))
    #expect(try await run(program) == Sandbox.Run(status: 0, output: "Saving every 90 seconds.\n", errors: ""))
    #expect(try sandbox.stored() == ["AutoSaveInterval": .integer(90)])
    #expect(
      try await run(program + ["-AutoSaveInterval", "15"])
        == Sandbox.Run(status: 0, output: "Saving every 15 seconds.\n", errors: ""))
    let usage = "usage: \(name) [--set SECONDS | --watch | -AutoSaveInterval SECONDS]\n"
    #expect(try await run(program + ["--set"]) == Sandbox.Run(status: 64, output: "", errors: usage))
    #expect(try await run(program + ["--help"]) == Sandbox.Run(status: 64, output: "", errors: usage))
    #expect(
      try await run(program + ["--set", "often"])
        == Sandbox.Run(status: 64, output: "", errors: "\(name): 'often' is not a number of seconds\n"))

    try await sandbox.apply(profile: LibraryTests.profile)
    #expect(
      try await run(program)
        == Sandbox.Run(status: 0, output: "Saving every 30 seconds (set by Baseline).\n", errors: ""))
    #expect(
      try await run(program + ["--set", "5"])
        == Sandbox.Run(status: 77, output: "", errors: "\(name): the interval is locked by \"Baseline\"\n"))
    #expect(try sandbox.stored() == ["AutoSaveInterval": .integer(90)])
  }

  @Test(arguments: Example.allCases) func isToldOfChanges(_ example: Example) async throws {
    guard let program = try await program(example) else { return }
    let environment = [
      "HOME": sandbox.home, "MANAGED_PREFERENCES_ROOT": sandbox.root, "PATH": "/usr/bin:/bin",
      "LD_LIBRARY_PATH": prefix + "/lib",
    ]
    let watching = try StartedProgram(program + ["--watch"], environment: environment, input: .typed, output: .read)
    var expected = ["Saving every 60 seconds."]
    #expect(await eventually { watching.lines == expected })
    // Another process, then the administrator.
    _ = try await run(program + ["--set", "90"])
    expected.append("Saving every 90 seconds.")
    #expect(await eventually { watching.lines == expected }, "\(watching.printed)")
    try await sandbox.apply(profile: LibraryTests.profile)
    expected.append("Saving every 30 seconds (set by Baseline).")
    #expect(await eventually { watching.lines == expected }, "\(watching.printed)")
    watching.endInput()
    #expect(await watching.end() == 0)
  }
}
