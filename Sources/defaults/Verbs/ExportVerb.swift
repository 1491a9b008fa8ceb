import CommandLineKit
import LinuxFiles
import PreferencesCore
import PropertyList

/// `export DOMAIN FILE`: the domain's own file, every type kept.
enum ExportVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "export", summary: "Write a domain's own file as a property list that can be imported again.",
      operands: [Operand("DOMAIN", .domain), Operand("FILE", .file)], flags: [Flags.managed],
      notes: [
        "Binary into FILE; - is standard output, in XML. Only what the user has set: neither\n"
          + "what is forced nor defaults of applications. --managed adds what is forced, under a\n"
          + "key of its own (ManagedPreferencesForced), which import leaves out.", "", Flags.domainNote,
      ],
      example: "defaults export org.example.Notes notes.plist")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let reference = try call.requiredDomain()
    let file = call.operands[0]
    var members: [String: PropertyListValue]?
    do throws(PreferencesFault) { members = try reference.file.read() } catch { throw CommandFailure(error) }
    if call.arguments.has("--managed"), let name = reference.name {
      let policy = Policy(call.installation())
      if let lock = policy.lock(call) { throw lock }
      if let forced = ManagedExport.dictionary(policy, name, alsoFor: (members ?? [:]).keys) {
        members = (members ?? [:]).merging([ManagedExport.key: forced]) { $1 }
      }
    }
    guard let members else {
      throw CommandFailure(
        .no,
        "The domain \(reference.shown) does not exist; nothing was written"
          + UsageError.didYouMean(Missing.names(near: reference)),
        next: call.command("domains"))
    }
    let bytes: [UInt8]
    do throws(PropertyListError) {
      bytes = try PropertyListCoding.encode(.dictionary(members), as: file == "-" ? .xml : .binary)
    } catch {
      throw CommandFailure(
        .badInput, "the domain can't be written in this form: \(TerminalText.escape("\(error)")); nothing was written",
        next: file == "-" ? [call.command(["export"] + reference.words + ["FILE"])] : [])
    }
    if file == "-" { try Output.print(bytes) } else { _ = try OutputFile.write(bytes, to: file, mode: 0o600) }
    return .done
  }
}

/// What `export --managed` adds: what is forced, apart from what the user has set, and who forces it.
enum ManagedExport {
  static let key = "ManagedPreferencesForced"
  static let valuesKey = "Values"

  /// `{Generation = N; Profiles = {KEY = (ID, …);}; Values = {KEY = …;};}`; nil where nothing is forced.
  static func dictionary(
    _ policy: Policy, _ domain: String, alsoFor keys: some Sequence<String>
  ) -> PropertyListValue? {
    let values = policy.values(in: domain, alsoFor: keys)
    guard let generation = policy.generation, !values.isEmpty else { return nil }
    let profiles = values.keys.map { key in
      (key, PropertyListValue.array((policy.forced(key, in: domain)?.forcedBy ?? []).map { .string($0.profile) }))
    }
    return .dictionary([
      "Generation": .integer(PropertyListInteger(generation)),
      "Profiles": .dictionary(Dictionary(uniqueKeysWithValues: profiles)), valuesKey: .dictionary(values),
    ])
  }
}
