import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PolicyLanguage
import PropertyList

/// A folder of policies, read and compiled.
struct PolicyFolder {
  /// As it was given, or the installed folder.
  let path: String
  let tree: PolicyTree
  let compilation: Compilation

  var hasErrors: Bool { compilation.payload == nil }
  /// Without mistakes, and without a single key.
  var hasNoKeys: Bool { !hasErrors && compilation.statistics.keys == 0 }
  /// And without a contained application.
  var isEmpty: Bool { hasNoKeys && compilation.statistics.containedApplications == 0 }

  /// Reads and compiles a folder; mistakes in it are no failure here.
  ///
  /// - Parameter directory: nil for the installed policies.
  static func read(_ call: Invocation, directory: String?) throws(CommandFailure) -> PolicyFolder {
    let path = directory ?? call.installation().policiesDirectory
    if let directory, let metadata = try? FileMetadata.of(directory), !metadata.isDirectory {
      throw CommandFailure(
        .noInput, "\(TerminalText.escape(directory)) is a file; policies are read from a folder",
        next: call.again(replacing: directory, with: FilePath.parent(of: directory)))
    }
    let tree: PolicyTree
    do throws(FileError) { tree = try PolicyTreeLoader.load(directory: path) } catch {
      throw CommandFailure(
        error, while: .reading,
        next: directory == nil ? call.command(privileged: true, "init") : "policyctl \(call.verb.name) --help")
    }
    return PolicyFolder(
      path: path, tree: tree, compilation: PolicyCompiler.compile(tree))
  }

  /// `Checked 4 files: 2 profiles, 1 inventory, 1 manifest. 1 warning.`
  var summary: String {
    let counts = compilation.statistics
    let parts = [
      (counts.profiles, "profile"), (counts.inventories, "inventory"), (counts.manifests, "manifest"),
      (counts.testCases, "test"),
    ].filter { $0.0 > 0 }.map { Count.text($0.0, $0.1) }
    var text = "Checked \(Count.text(counts.files, "file"))"
    if !parts.isEmpty { text += ": " + parts.joined(separator: ", ") }
    text += "."
    if compilation.errorCount > 0 { text += " \(Count.text(compilation.errorCount, "error"))." }
    if compilation.warningCount > 0 { text += " \(Count.text(compilation.warningCount, "warning"))." }
    return text
  }

  /// Every mistake with its source line, on standard error.
  func printDiagnostics() {
    guard !compilation.diagnostics.isEmpty else { return }
    let renderer = DiagnosticRenderer(
      sources: tree.sources, isColored: Terminal.palette(for: .errors).isEnabled)
    StandardStreams.writeError(renderer.render(compilation.diagnostics))
  }

  /// What is said after the mistakes: `1 error. Nothing was written; generation 1 stays in use.`
  func refusal(_ call: Invocation) -> CommandFailure {
    let errors = Count.text(compilation.errorCount, "error")
    let state: String =
      switch (try? ForcedDomainLoader(call.installation()).marker()) ?? nil {
      case let marker?: "generation \(marker.generation) stays in use"
      case nil: "nothing is installed here"
      }
    StandardStreams.writeErrorLine("\(errors). Nothing was written; \(state).")
    return CommandFailure(.badInput, "")
  }

  /// `{"diagnostics": […]}`.
  func diagnosticsJSON() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("diagnostics")
    json.beginArray()
    for diagnostic in compilation.diagnostics {
      json.beginObject()
      json.key("path")
      json.string(diagnostic.path)
      json.key("line")
      json.integer(diagnostic.line)
      json.key("column")
      json.integer(diagnostic.column)
      json.key("severity")
      json.string(diagnostic.severity.rawValue)
      json.key("code")
      json.string(diagnostic.code.rawValue)
      json.key("message")
      json.string(diagnostic.message)
      json.key("hint")
      json.optional(diagnostic.hint)
      json.key("related")
      json.beginArray()
      for place in diagnostic.related {
        json.beginObject()
        json.key("path")
        json.string(place.path)
        json.key("line")
        json.integer(place.line)
        json.key("column")
        json.integer(place.column)
        json.key("message")
        json.string(place.message)
        json.endObject()
      }
      json.endArray()
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json
  }

  /// The bundle of these policies, not signed.
  ///
  /// - Parameter serial: nil for the time of making.
  func bundle(serial: UInt64?) throws(CommandFailure) -> Bundle {
    guard let payload = compilation.payload else { throw CommandFailure(.badInput, "\(path) has errors") }
    let number: UInt64
    if let serial {
      number = serial
    } else {
      do throws(SerialNumber.MalformedSourceDate) { number = try SerialNumber.ofNow() } catch {
        throw CommandFailure(.usage, error.description)
      }
    }
    do throws(SerialNumber.TooHigh) { try SerialNumber.validate(number) } catch {
      throw CommandFailure(.badInput, error.description)
    }
    return Bundle(serial: number, sourceDigest: compilation.sourceDigest, payload: payload)
  }
}
