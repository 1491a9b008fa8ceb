import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PolicyLanguage

/// The sources that were installed from, held against the installed bundle: by digest, never by time.
///
/// The one rule for `status` and `report`.
struct SourcesComparison {
  enum State: String {
    case match, differ, absent, unknown
  }

  let state: State
  /// A sentence whose subject, the sources, stands before it.
  let text: String
  /// The folder whose sources differ.
  let differing: String?

  /// - Parameter marker: nil where it can't be read.
  init(_ marker: GenerationMarker?, _ call: Invocation, installation: Installation) {
    guard let marker, marker.generation > 0 else {
      self.init(.absent, "nothing has been installed yet")
      return
    }
    let standard = InstalledSource.absolute(installation.policiesDirectory)
    if case .bundleFile(let path)? = marker.source {
      // They may be here nevertheless, where the bundle was compiled on this host.
      if case .read(let digest?) = Self.sources(in: standard), digest == marker.sourceDigest {
        self.init(.match, "match the installed bundle")
      } else {
        self.init(.absent, "were compiled elsewhere; the bundle \(TerminalText.escape(path)) was installed")
      }
      return
    }
    let folder = marker.source?.path ?? standard
    let place = folder == standard ? "" : "in \(TerminalText.escape(folder)) "
    switch Self.sources(in: folder) {
    case .unreadable(let why): self.init(.unknown, "\(place)can't be read: \(why)")
    case .read(nil): self.init(.absent, "\(place)are gone; what was installed stays in force")
    case .read(marker.sourceDigest): self.init(.match, "\(place)match the installed bundle")
    case .read:
      var text = "\(place)differ from the installed bundle"
      // Only a folder that was applied before is named as one to apply.
      if marker.source != nil {
        let apply = call.command(privileged: true, ["apply"] + (folder == standard ? [] : [folder]))
        text += ": \(apply) puts them in force"
      }
      self.init(.differ, text, differing: folder)
    }
  }

  private init(_ state: State, _ text: String, differing: String? = nil) {
    self.state = state
    self.text = text
    self.differing = differing
  }

  /// The errors in sources that differ: what keeps them from coming into force. Empty where they compile.
  func mistakes() -> [String] {
    guard let differing, let tree = try? PolicyTreeLoader.load(directory: differing) else { return [] }
    return PolicyCompiler.compile(tree).diagnostics.filter { $0.severity == .error }.map { diagnostic in
      var text = "\(diagnostic.path):\(diagnostic.line):\(diagnostic.column): \(diagnostic.message)"
      text += " [\(diagnostic.code.rawValue)]"
      for place in diagnostic.related { text += "; \(place.path):\(place.line):\(place.column): \(place.message)" }
      return text
    }
  }

  private enum Sources {
    /// nil: there are none.
    case read(digest: [UInt8]?)
    case unreadable(String)
  }

  private static func sources(in folder: String) -> Sources {
    do throws(FileError) {
      let tree = try PolicyTreeLoader.load(directory: folder)
      return .read(digest: tree.sources.isEmpty ? nil : PolicyCompiler.sourceDigest(of: tree))
    } catch {
      switch error.errno {
      case .noSuchFile, .notDirectory: return .read(digest: nil)
      default: return .unreadable("\(error.errno)")
      }
    }
  }
}
