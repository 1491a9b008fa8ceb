import CommandLineKit
import PreferencesCore
import PropertyList

/// `read [DOMAIN [KEY]]`: values as an application of the domain gets them.
enum ReadVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "read", summary: "Print the value of a key, all of a domain, or all domains.",
      operands: [Operand("DOMAIN", .domain, optional: true), Operand("KEY", .key, optional: true)],
      flags: [Flags.layers, Flags.format],
      notes: [
        "What is forced comes first, then this user's files for this host and for every host,\n"
          + "then those for every user. A string is printed bare; containers as on macOS: for\n"
          + "people, with data shortened and without types (to copy them: defaults export).\n"
          + "What is missing exits with 1.", "",
        Flags.domainNote,
      ],
      example: "defaults read -g")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let policy = Policy(call.installation())
    guard let reference = try call.domain() else { return try readAll(call, policy) }
    if reference.isAboutThisHost, let lock = policy.lock(call) { throw lock }
    let domain = VisibleDomain(reference, policy)
    if call.arguments.has("--layers") { return try readLayers(domain, call, policy) }
    if let key = call.operands.first {
      guard let answer = domain.answer(key) else { throw Missing.key(key, in: domain, call) }
      if call.wantsJSON {
        var json = JSONWriter(pretty: true)
        JSONView.write([key: answer], of: reference, policy, to: &json)
        try Output.print(json)
      } else {
        try Output.print(ValueView.text(answer.value))
      }
      return .done
    }
    let answers = domain.answers()
    if answers.isEmpty { throw Missing.domain(domain, call) }
    if call.wantsJSON {
      var json = JSONWriter(pretty: true)
      JSONView.write(answers, of: reference, policy, to: &json)
      try Output.print(json)
    } else {
      try Output.print(ValueView.text(.dictionary(answers.mapValues(\.value))))
    }
    return exitCode(domain)
  }

  /// What is printed lacks what a file that can't be used may hold.
  private static func exitCode(_ domain: VisibleDomain) -> ExitCode {
    domain.faults.first.map { CommandFailure($0).exitCode } ?? .done
  }

  private static func readAll(_ call: Invocation, _ policy: Policy) throws(CommandFailure) -> ExitCode {
    if call.arguments.has("--layers") { throw call.usage(.missingOperand(verb: "read", name: "DOMAIN")) }
    if let lock = policy.lock(call) { throw lock }
    let domains = try DomainList(call, policy)
    var exitCode = ExitCode.done
    var json = JSONWriter(pretty: true)
    var all: [String: PropertyListValue] = [:]
    json.beginObject()
    json.key("domains")
    json.beginArray()
    for name in domains.names {
      let domain = VisibleDomain(try DomainReference(name, call), policy)
      let answers = domain.answers()
      if !domain.faults.isEmpty { exitCode = Self.exitCode(domain) }
      if answers.isEmpty { continue }
      JSONView.write(answers, of: domain.reference, policy, to: &json)
      all[DomainList.title(name)] = .dictionary(answers.mapValues(\.value))
    }
    json.endArray()
    json.endObject()
    if call.wantsJSON { try Output.print(json) } else { try Output.print(ValueView.text(.dictionary(all))) }
    return exitCode
  }

  /// The evidence of the search list itself, for one key or all.
  private static func readLayers(
    _ domain: VisibleDomain, _ call: Invocation, _ policy: Policy
  ) throws(CommandFailure) -> ExitCode {
    let reference = domain.reference
    guard let list = reference.searchList(call) else {
      throw call.usage("--layers tells all places of a domain by name; it goes with no flag or path that narrows them")
    }
    let keys = call.operands.first.map { [$0] } ?? Array(domain.answers().keys)
    let resolutions = keys.sortedByBytes().map { list.resolution(of: $0) }
    if let key = call.operands.first, resolutions.allSatisfy({ $0.value == nil }) {
      throw Missing.key(key, in: domain, call)
    }
    if resolutions.isEmpty { throw Missing.domain(domain, call) }
    // The policy's are told with the lock.
    for fault in list.faults where fault.kind == .notRoaming && !domain.hasAskedStore {
      Defaults.note("warning: \(fault.shown)")
    }
    let view = LayersView(reference: reference, resolutions: resolutions, undeclared: reference.undeclared(policy))
    if call.wantsJSON {
      try Output.print(view.json())
    } else {
      try Output.print(view.text(Terminal.palette(for: .output)))
    }
    return exitCode(domain)
  }
}
