import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PolicyLanguage
import PropertyList

/// `test [DIR]`: the `Tests` documents of a folder, asked of the resolver that applications use.
enum TestVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "test", summary: "Run the tests in the policies, through the resolver that applications use.",
      operands: [Operand("DIR", .directory, optional: true)],
      flags: [CommonFlags.policies, CommonFlags.bundle, CommonFlags.instant, CommonFlags.format],
      notes: [
        "DIR has the tests; --policies and --bundle put them to other policies than DIR's.",
        "--at sets the time of tests that name none. A failed test exits with 1.",
      ],
      example: "policyctl test policies")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let circumstances = try Circumstances(call)
    let folder = try PolicyFolder.read(call, directory: call.arguments.operand(0))
    if folder.hasErrors {
      folder.printDiagnostics()
      throw folder.refusal(call)
    }
    guard !folder.tree.tests.isEmpty else {
      throw CommandFailure(.noInput, "\(folder.path) has no tests", next: "add a document of the kind Tests")
    }
    let payload =
      circumstances.policies == nil && circumstances.bundle == nil
      ? try Payload.decode(folder.compilation.payload ?? [], path: folder.path)
      : try Payload.read(call, circumstances).payload
    var progress = ProgressLine("Running tests")
    var results: [PolicyTestResult] = []
    let now = circumstances.instant ?? WallClock.unixSeconds()
    do throws(NarrowingError) {
      // In pieces, so that a long run can tell how far it is.
      let size = 64
      for start in stride(from: 0, to: folder.tree.tests.count, by: size) {
        let piece = Array(folder.tree.tests[start..<min(start + size, folder.tree.tests.count)])
        results += try PolicyTestRunner.run(piece, sources: folder.tree.sources, payload: payload, now: now)
        progress.update(results.count, of: folder.tree.tests.count)
      }
    } catch {
      throw CommandFailure(.unavailable, "\(folder.path): \(error)")
    }
    let failed = results.count { !$0.hasPassed }
    try Output.print(call.wantsJSON ? json(results).bytes + [UInt8(ascii: "\n")] : Array(text(results).utf8))
    return failed == 0 ? .done : .no
  }

  /// Each failure with its place, and the count last.
  private static func text(_ results: [PolicyTestResult]) -> String {
    let palette = Terminal.palette(for: .output)
    var text = ""
    for result in results where !result.hasPassed {
      text += palette.paint("\(result.path):\(result.position.line):\(result.position.column)", .place)
      text += ": \(palette.paint("failed", .error)): \(TerminalText.escape(result.name))\n"
      for failure in result.failures {
        text += "  \(failure.path):\(failure.position.line):\(failure.position.column): "
        text += TerminalText.escape(failure.description) + "\n"
      }
    }
    let failed = results.count { !$0.hasPassed }
    let all = Count.text(results.count, "test")
    return text + (failed == 0 ? "\(all) passed.\n" : "\(all): \(results.count - failed) passed, \(failed) failed.\n")
  }

  private static func json(_ results: [PolicyTestResult]) -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("tests")
    json.beginArray()
    for result in results {
      json.beginObject()
      json.key("name")
      json.string(result.name)
      json.key("path")
      json.string(result.path)
      json.key("line")
      json.integer(result.position.line)
      json.key("column")
      json.integer(result.position.column)
      json.key("passed")
      json.boolean(result.hasPassed)
      json.key("failures")
      json.beginArray()
      for failure in result.failures {
        json.beginObject()
        json.key("domain")
        json.string(failure.domain)
        json.key("key")
        json.string(failure.key)
        json.key("line")
        json.integer(failure.position.line)
        json.key("column")
        json.integer(failure.position.column)
        json.key("message")
        json.string(failure.description)
        json.endObject()
      }
      json.endArray()
      json.endObject()
    }
    json.endArray()
    json.key("passed")
    json.integer(results.count { $0.hasPassed })
    json.key("failed")
    json.integer(results.count { !$0.hasPassed })
    json.endObject()
    return json
  }
}
