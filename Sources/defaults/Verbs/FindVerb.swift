import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// `find WORD`: every domain, key and string that contains a word, letter case aside.
enum FindVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "find", summary: "Print every entry whose domain, key or value contains a word.",
      operands: [Operand("WORD", .text)], flags: [Flags.format],
      notes: [
        "Letter case does not count. Strings inside arrays and dictionaries are looked at.\nNo match exits with 1."
      ],
      example: "defaults find interval")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let word = call.operands[0]
    let policy = Policy(call.installation())
    if let lock = policy.lock(call) { throw lock }
    let needle = word.lowercased()
    var found: [(domain: VisibleDomain, answers: [String: VisibleDomain.Answer])] = []
    var fault: CommandFailure?
    for name in try DomainList(call, policy).names {
      let domain = VisibleDomain(try DomainReference(name, call), policy)
      var answers = domain.answers()
      if !contains(DomainList.title(name), needle) {
        answers = answers.filter { contains($0.key, needle) || contains($0.value.value, needle) }
      }
      if let first = domain.faults.first { fault = CommandFailure(first) }
      if !answers.isEmpty { found.append((domain, answers)) }
    }
    if call.wantsJSON {
      var json = JSONWriter(pretty: true)
      json.beginObject()
      json.key("domains")
      json.beginArray()
      for (domain, answers) in found { JSONView.write(answers, of: domain.reference, policy, to: &json) }
      json.endArray()
      json.endObject()
      try Output.print(json)
    } else {
      for (domain, answers) in found {
        let title = TerminalText.escape(DomainList.title(domain.reference.word))
        let values = PropertyListValue.dictionary(answers.mapValues(\.value))
        try Output.print("Found \(answers.count) keys in domain '\(title)': " + ValueView.text(values))
      }
    }
    if let fault { return fault.exitCode }
    guard found.isEmpty else { return .done }
    throw CommandFailure(
      .no, "No domain, key, nor value containing '\(TerminalText.escape(word))'", next: call.command("domains"))
  }

  private static func contains(_ text: String, _ needle: String) -> Bool {
    text.lowercased().contains(bytesOf: needle)
  }

  private static func contains(_ value: PropertyListValue, _ needle: String) -> Bool {
    switch value {
    case .string(let text): contains(text, needle)
    case .array(let elements): elements.contains { contains($0, needle) }
    case .dictionary(let members): members.contains { contains($0.key, needle) || contains($0.value, needle) }
    case .integer, .real, .boolean, .date, .data: false
    }
  }
}
