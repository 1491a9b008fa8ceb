import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// The domains that `domains`, `read` and `find` go through: those with a file of this user (or what a flag says instead),
/// and those in which something is forced for this user.
struct DomainList {
  /// Sorted, `NSGlobalDomain` among them.
  let names: [String]

  init(_ call: Invocation, _ policy: Policy) throws(CommandFailure) {
    let locations = PreferenceLocations.current(installation: call.installation())
    var names: Set<String> = []
    func warn(_ fault: PreferencesFault) { Defaults.note("warning: \(fault.shown)") }
    do throws(FileError) {
      for host in call.host == .any ? [.any, .current] : [call.host] {
        names.formUnion(try PersistentDomain.names(in: locations, user: call.user, host: host, passedOver: warn))
      }
    } catch {
      throw CommandFailure(error, while: .reading)
    }
    if case .named = call.host {} else { names.formUnion(policy.domains) }
    self.names = names.sortedByBytes()
  }

  /// What macOS calls a domain where it lists several.
  static func title(_ name: String) -> String { name == GlobalDomain.name ? "Apple Global Domain" : name }
}
