import AuditEvents
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore
import UbiquitousStore

/// The domain that a command is about: which one, and which of its files.
///
/// A domain by name has forced values, and up to four files. A domain by path is its file alone: nothing is forced there,
/// unless the path leads to a file in which a domain by name is kept.
struct DomainReference {
  /// The name; nil for a path that leads elsewhere.
  let name: String?
  /// As messages and commands show it.
  let word: String
  /// The file that is written.
  let file: PersistentDomain
  let user: PersistentDomain.User
  let host: PersistentDomain.Host
  let isPath: Bool
  let locations: PreferenceLocations

  /// - Parameter word: a name, one of the names of `NSGlobalDomain`, or a path: whatever has a slash.
  init(_ word: String, _ call: Invocation) throws(CommandFailure) {
    locations = PreferenceLocations.current(installation: call.installation())
    user = call.user
    host = call.host
    if word.utf8.contains(UInt8(ascii: "/")) {
      for flag in ["-currentHost", "-host", "--any-user"] where call.arguments.has(flag) {
        throw call.usage("\(flag) is for domains by name; a path leads to one file")
      }
      if word.utf8.last == UInt8(ascii: "/") {
        throw call.usage("'\(TerminalText.escape(word))' is the path of a directory, not of a file")
      }
      isPath = true
      self.word = word
      file = PersistentDomain(path: word, in: locations)
      name = file.domainName
      return
    }
    isPath = false
    let name = ["Apple Global Domain", ".GlobalPreferences"].contains(word) ? GlobalDomain.name : word
    self.word = name
    self.name = name
    do throws(DomainNameFault) {
      file = try PersistentDomain(name, user: user, host: host, in: locations)
    } catch {
      throw CommandFailure(
        .usage,
        "'\(TerminalText.escape(name))' names no domain, or the host no file: \(TerminalText.escape("\(error)"))",
        next: "\(Defaults.name) domains")
    }
  }

  /// The word, safe for a terminal.
  var shown: String { TerminalText.escape(word) }

  /// The word in commands to be typed: one that would be taken for a flag stands behind `--`.
  var words: [String] { Self.words(word) }

  /// The domain's name in commands to be typed, also where a path led to it.
  var nameWords: [String] { Self.words(name ?? word) }

  private static func words(_ word: String) -> [String] { word.hasPrefix("-") ? ["--", word] : [word] }

  /// Whether what a policy forces on this host concerns what is read here. It does not concern a file alone, nor what
  /// another host reads.
  var isAboutThisHost: Bool {
    if isPath { return false }
    if case .named = host { return false }
    return true
  }

  /// All layers that an application of the domain asks, but for those that only it knows; nil where a flag or a path
  /// narrows them.
  func searchList(_ call: Invocation) -> SearchList? {
    guard isAboutThisHost, host == .any, user == .current, let name else { return nil }
    var configuration = SearchList.Configuration(
      domain: name, arguments: [], installation: call.installation(), sink: DiscardingAuditEventSink(), observes: false)
    configuration.preparesContainer = false
    configuration.openRoamingLayer = RoamingSnapshot.open
    // The name was checked when the reference was made.
    return try? SearchList(configuration: configuration)
  }

  /// One of the domain's files.
  func file(user: PersistentDomain.User, host: PersistentDomain.Host) -> PersistentDomain? {
    guard let name else { return nil }
    return try? PersistentDomain(name, user: user, host: host, in: locations)
  }
}
