import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// `import DOMAIN FILE`: every key of a property list, beside those that the domain has already.
enum ImportVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "import", summary: "Set every key of a property list in a domain; keys that it does not name stay.",
      operands: [Operand("DOMAIN", .domain), Operand("FILE", .file)], flags: [Flags.skipForced],
      notes: [
        "FILE is a property list (XML, binary, old-style or JSON); - is standard input. All or\n"
          + "nothing: a key that is forced refuses everything (exit status 77), unless\n"
          + "--skip-forced leaves it out. What 'defaults read' prints is for people; where it\n"
          + "shortens data, it is refused.",
        "", Flags.domainNote,
      ],
      example: "defaults import org.example.Notes notes.plist")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let reference = try call.requiredDomain()
    let file = call.operands[0]
    var members = try ImportedList.read(file, call)
    if let managed = members.removeValue(forKey: ManagedExport.key) {
      let count = managed.dictionaryValue?[ManagedExport.valuesKey]?.dictionaryValue?.count ?? 0
      Defaults.note("note: \(count) \(count == 1 ? "value" : "values") marked as forced in the file left out")
    }
    if members[""] != nil {
      throw CommandFailure(.badInput, "\(TerminalText.escape(file)) has an empty key; nothing was written")
    }
    try WholeDomain.change(reference, call, operation: "set") { values in values.merge(members) { $1 } }
    return .done
  }
}

/// A property list that the user names.
enum ImportedList {
  static func read(_ file: String, _ call: Invocation) throws(CommandFailure) -> [String: PropertyListValue] {
    let shown = file == "-" ? "standard input" : TerminalText.escape(file)
    let bytes = try bytes(of: file)
    do throws(PropertyListError) {
      if case .dictionary(let members) = try PropertyListCoding.decode(bytes) { return members }
    } catch {
      throw CommandFailure(
        .badInput,
        isDescription(bytes)
          ? "\(shown) is what 'defaults read' prints, which shortens data and has no types; it can't be imported"
          : "\(shown) is no property list: \(TerminalText.escape("\(error)"))",
        next: isDescription(bytes) ? ["\(Defaults.name) export DOMAIN FILE"] : [])
    }
    throw CommandFailure(.badInput, "the property list of \(shown) is no dictionary; nothing was written")
  }

  /// Whether a text that is no property list is one only because of data as `defaults read` shows them.
  private static func isDescription(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    return text.contains(bytesOf: "{length = ") && text.contains(bytesOf: ", bytes = 0x")
  }

  private static func bytes(of file: String) throws(CommandFailure) -> [UInt8] {
    let limit = DecodingLimits.default.maximumBytes
    do throws(FileError) {
      if file == "-" { return try StandardStreams.readInput(limit: limit) }
      return try WholeFile.read(file, limit: limit).bytes
    } catch {
      throw CommandFailure(error, while: .reading)
    }
  }
}
