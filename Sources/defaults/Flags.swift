import CommandLineKit

/// Flags that several verbs take, worded once.
enum Flags {
  static let currentHost = Flag("-currentHost", "the file of this host alone")
  static let host = Flag("-host", value: "ID", .host, "the file of the host with this identifier")
  static let anyUser = Flag("--any-user", "the files that hold for every user")
  static let root = Flag("--root", value: "DIR", .directory, "the policy and the files for every user below DIR")
  static let help = Flag("--help", short: "-h", "tell what the verb does")

  /// What may stand before the verb, or before its operands.
  static let everywhere = [currentHost, host, anyUser, root, help]

  static let global = Flag("-globalDomain", short: "-g", "in the place of DOMAIN: what all applications share")
  static let application = Flag(
    "-app", value: "NAME", .application, "in the place of DOMAIN: that of an application")

  /// What may stand in the place of a domain's name.
  static let designators = [global, application]

  static let format = Flag("--format", value: "FORM", .choice(["text", "json"]), "text (default) or json")
  static let layers = Flag("--layers", "tell every place that has a value, and which one answers")
  static let skipForced = Flag("--skip-forced", "leave forced keys out, instead of refusing everything")
  static let managed = Flag("--managed", "add what is forced, marked as such")

  /// The last line of a verb's notes: how a domain is named.
  static let domainNote =
    "DOMAIN is a name, a path to a file, -g (all applications) or -app NAME. Before the\n"
    + "verb: -currentHost, -host ID, --any-user, --root DIR (see: defaults help)."
}
