import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

extension DomainReference {
  /// Changes the domain's file under its lock; returns when the change is on the disk.
  ///
  /// - Parameters:
  ///   - keys: those that the command names, which are brought to the synced store even where the file has their value already.
  ///   - body: what it throws is the command's failure, and then nothing is written.
  func change(
    keys: [String] = [], _ call: Invocation, _ body: (inout [String: PropertyListValue]) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    func remark(_ fault: PreferencesFault) { Defaults.note("warning: \(fault.shown)") }
    var changed: Set<String> = []
    var former: [String: PropertyListValue] = [:]
    var written: [String: PropertyListValue] = [:]
    do {
      try file.change(remark: remark) { values in
        let before = values
        try body(&values)
        former = before
        written = values
        changed = Set(before.keys).union(values.keys).filter { before[$0] != written[$0] }
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch let fault as PreferencesFault {
      throw CommandFailure(fault, whileWriting: call)
    } catch {
      throw CommandFailure(.inputOutput, TerminalText.escape("\(error)"))
    }
    try carryOver(changed.union(keys), from: former, to: written, call)
  }
}

extension PreferencesFault {
  /// What is wrong and with which file, safe for a terminal. What the system says names the file by itself.
  var shown: String { TerminalText.escape(errno == nil ? description : message) }
}

extension CommandFailure {
  /// A preference file that can't be written.
  init(_ fault: PreferencesFault, whileWriting call: Invocation) {
    let text = fault.shown + "; nothing was written"
    switch (fault.kind, fault.errno) {
    case (.busy, _):
      self.init(.unavailable, text, next: call.again())
    case (_, .notPermitted), (_, .permissionDenied):
      self.init(.notPermitted, text, next: Self.whoMayWrite(fault.path, call))
    case (.untrusted, _): self.init(.notPermitted, text)
    case (.unwritable, nil): self.init(.badInput, text)
    case (_, .noSuchFile), (_, .notDirectory):
      self.init(.cannotCreate, text, next: call.byNameInsteadOfPathOfMac())
    case (.unreadable, _) where fault.isNoFile: self.init(.cannotCreate, text)
    default: self.init(.inputOutput, text)
    }
  }

  /// A preference file that can't be read.
  init(_ fault: PreferencesFault) {
    let code: ExitCode =
      switch (fault.kind, fault.errno) {
      case (.damaged, _): .badInput
      case (_, .notPermitted), (_, .permissionDenied): .notPermitted
      case (.untrusted, _): .notPermitted
      case (.unreadable, _) where fault.isNoFile: .noInput
      default: .inputOutput
      }
    self.init(code, fault.shown)
  }

  /// The command for the user to whom the folder belongs: root in another user's home is not it.
  private static func whoMayWrite(_ path: String, _ call: Invocation) -> [String] {
    var directory = FilePath.parent(of: path)
    while (try? FileMetadata.of(directory)) == nil, directory != "/", directory != "." {
      directory = FilePath.parent(of: directory)
    }
    guard let owner = (try? FileMetadata.of(directory))?.userID, owner != ProcessIdentity.effectiveUserID else {
      return []
    }
    let name = ((try? UserDatabase.user(id: owner)) ?? nil)?.name ?? "#\(owner)"
    return [(owner == 0 ? "sudo " : "sudo -u \(ShellWord.quote(name)) ") + call.again()]
  }
}
