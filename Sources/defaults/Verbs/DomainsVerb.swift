import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// `domains`: the names of all domains, `NSGlobalDomain` left out as on macOS.
enum DomainsVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "domains", summary: "Print the names of all domains on one line.", flags: [Flags.format],
      notes: [
        "Those with a key in a file of this user and those in which something is forced.\n"
          + "NSGlobalDomain always exists, and is left out. With -currentHost, -host ID or --any-user\n"
          + "before the verb: those with a key in such a file."
      ],
      example: "defaults domains")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let policy = Policy(call.installation())
    var names: [String] = []
    for name in try DomainList(call, policy).names where name != GlobalDomain.name {
      // A file that has lost its last key is there, but `read` and `delete` know no domain in it.
      if VisibleDomain(try DomainReference(name, call), policy).exists() { names.append(name) }
    }
    if call.wantsJSON {
      var json = JSONWriter(pretty: true)
      json.beginObject()
      json.key("domains")
      json.beginArray()
      for name in names { json.string(name) }
      json.endArray()
      json.endObject()
      try Output.print(json)
    } else {
      try Output.print(names.map { TerminalText.escape($0) }.joined(separator: ", ") + "\n")
    }
    // Nothing is hidden by it, but what is forced is not among the names.
    if let lock = policy.lock(call) { throw lock }
    return .done
  }
}
