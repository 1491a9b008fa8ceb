import CommandLineKit
import PreferencesCore
import PropertyList

/// `domains`: the names of all domains, `NSGlobalDomain` left out as on macOS.
enum DomainsVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "domains", summary: "Print the names of all domains on one line.", flags: [Flags.format],
      notes: [
        "Those with a file of this user and those in which something is forced. NSGlobalDomain\n"
          + "always exists, and is left out. With -currentHost, -host ID or --any-user before the\n"
          + "verb: those with such a file."
      ],
      example: "defaults domains")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let policy = Policy(call.installation())
    let names = try DomainList(call, policy).names.filter { $0 != GlobalDomain.name }
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
