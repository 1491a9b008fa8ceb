/// `--help`, from the table: one sentence, the usage line, the flags, and last an example that works as typed.
public enum HelpText {
  /// The help of one verb.
  ///
  /// - Parameters:
  ///   - command: the command's name.
  ///   - shared: flags that every verb takes; `--help` itself is not listed.
  public static func text(for verb: Verb, command: String, shared: [Flag]) -> String {
    var text = verb.summary + "\n\n"
    text += "usage: \(usageLine(for: verb, command: command))\n"
    let flags = (verb.flags + shared).filter { $0.name != "--help" && $0.name != "--version" }
    if !flags.isEmpty { text += "\n" + flagLines(flags) }
    if !verb.notes.isEmpty { text += "\n" + verb.notes.map { $0 + "\n" }.joined() }
    text += "\nexample:\n  \(verb.example)\n"
    return text
  }

  /// The overview of a command: its verbs under their headings.
  public static func text(for overview: CommandOverview) -> String {
    var text = overview.summary + "\n\nusage: \(overview.name) \(overview.flags) VERB …\n"
    let width = overview.verbNames.map { $0.utf8.count }.max() ?? 0
    for (heading, verbs) in overview.groups {
      text += "\n\(heading)\n"
      for verb in verbs {
        text += "  \(TextTable.pad(verb.name, to: width))  \(verb.summary)\n"
      }
    }
    if !overview.notes.isEmpty { text += "\n" + overview.notes.map { $0 + "\n" }.joined() }
    text += "\n\(overview.name) VERB --help tells the flags of a verb.\n"
    text += "\nexample:\n  \(overview.example)\n"
    return text
  }

  /// The usage line: `policyctl explain DOMAIN KEY [--host NAME] …` with the flags in short.
  public static func usageLine(for verb: Verb, command: String) -> String {
    let operands = verb.operands.map { operand in
      let name = operand.takesRest ? operand.name + " …" : operand.name
      return operand.isRequired ? name : "[\(name)]"
    }
    let flags = verb.flags.isEmpty ? [] : ["[flags]"]
    let rest = verb.takesCommand ? flags + ["[--]"] + operands : operands + flags
    return ([command] + verb.path + rest).joined(separator: " ")
  }

  static func flagLines(_ flags: [Flag]) -> String {
    let left = flags.map { flag in
      (flag.short.map { "\($0), " } ?? "") + flag.name + (flag.placeholder.map { " \($0)" } ?? "")
        + (flag.repeats ? " …" : "")
    }
    let width = left.map(DisplayWidth.columns).max() ?? 0
    return zip(left, flags).map { "  \(TextTable.pad($0, to: width))  \($1.summary)\n" }.joined()
  }
}
