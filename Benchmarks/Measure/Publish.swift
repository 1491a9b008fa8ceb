import ForcedDomain
import Foundation
import Glibc
import PreferencesCore

/// An application that observes: prints the key `Probe` and the moment, at once and after each change, until its
/// standard input ends.
func observe() throws {
  let list = try SearchList(configuration: .init(domain: Keys.domain, observes: true))
  @Sendable func tell() {
    // Not through stdio: flushing waits for the thread that reads standard input.
    let line = Array("\(list.integer("Probe")) \(Timing.nanoseconds())\n".utf8)
    _ = write(STDOUT_FILENO, line, line.count)
  }
  let subscription = list.onChange { _ in tell() }
  tell()
  while readLine() != nil {}
  subscription.cancel()
}

/// The time from a new generation's marker to the new value in an observing process, and from the edit of a YAML file
/// through `policyctl apply` to that value.
///
/// - Parameter folder: has `policies/` from `Benchmarks/generate`; the rest is made here.
func measurePublish(folder: String, policyctl: String) throws {
  let root = folder + "/root"
  func edit(_ value: Int) throws {
    let text =
      "version: 1\nkind: Profile\nid: org.benchmark.probe\ntitle: Probe\nforced:\n"
      + "  \(Keys.domain): {Probe: \(value)}\n"
    try text.write(toFile: folder + "/policies/probe.yaml", atomically: true, encoding: .utf8)
  }
  func apply() throws { try run(policyctl, ["--root", root, "apply", folder + "/policies"]) }
  let state = root + "/var/lib/managed-preferences"
  let rounds = 40

  try run(policyctl, ["--root", root, "init", "--host", "benchmark"])
  try edit(0)
  try apply()
  let replay = folder + "/replay"
  try run("/bin/cp", ["-a", root, replay])

  // YAML edit → visible.
  var values: [Double] = []
  do {
    let observer = try Observer(root: root)
    for value in 1...rounds {
      let start = Timing.nanoseconds()
      try edit(value)
      try apply()
      values.append((try observer.moment(of: value) - start) / 1e6)
      for name in ["forced", "generation"] {
        try run("/bin/cp", ["-a", "\(state)/\(name)", "\(folder)/\(name).\(value)"])
      }
    }
  }
  Timing.report("YAML edit to visible", values, "ms")

  // Publish → visible: the same generations once more, each file put in place by a rename as the installer does it.
  values = []
  let observer = try Observer(root: replay)
  for value in 1...rounds {
    let target = replay + "/var/lib/managed-preferences"
    try rename("\(folder)/forced.\(value)", over: "\(target)/forced")
    let start = Timing.nanoseconds()
    try rename("\(folder)/generation.\(value)", over: "\(target)/generation")
    values.append((try observer.moment(of: value) - start) / 1e6)
  }
  Timing.report("publish to visible", values, "ms")
}

private func rename(_ old: String, over new: String) throws {
  if Glibc.rename(old, new) != 0 { throw CocoaError(.fileWriteUnknown) }
}

private func run(_ command: String, _ arguments: [String]) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: command)
  process.arguments = arguments
  process.standardOutput = FileHandle.nullDevice
  try process.run()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { fatalError("\(command) \(arguments): \(process.terminationStatus)") }
}

/// This program as `observe`, in a process of its own.
private final class Observer {
  private let process = Process()
  private let input = Pipe()
  private let lines: UnsafeMutablePointer<FILE>

  init(root: String) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["observe"]
    process.environment = ProcessInfo.processInfo.environment
      .merging(["MANAGED_PREFERENCES_ROOT": root]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    lines = fdopen(dup(output.fileHandleForReading.fileDescriptor), "r")
    _ = try moment(of: nil)
  }

  /// Waits for the line with a value (nil: any line) and gives its moment.
  func moment(of value: Int?) throws -> Double {
    var buffer = [CChar](repeating: 0, count: 256)
    while fgets(&buffer, 256, lines) != nil {
      let line = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.count == 2, value == nil || Int(words[0]) == value { return Double(words[1])! }
    }
    fatalError("the observer ended")
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    fclose(lines)
  }
}
