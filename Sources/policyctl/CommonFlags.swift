import CommandLineKit

/// Flags that several verbs take, worded once.
enum CommonFlags {
  static let everywhere = [
    Flag("--root", value: "DIR", .directory, "work below DIR instead of /"),
    Flag("--help", short: "-h", "tell what the verb does"),
  ]

  static let format = Flag("--format", value: "FORM", .choice(["text", "json"]), "text (default) or json")

  static let host = Flag("--host", value: "NAME", .host, "what if the host were NAME")
  static let user = Flag("--user", value: "NAME", .user, "what if NAME asked")
  static let account = Flag("--user", value: "NAME", .user, "of the user NAME, whose values are not shown")
  static let group = Flag(
    "--group", value: "GROUP", .group, repeats: true, "what if the user were in that inventory group")
  static let instant = Flag("--at", value: "TIME", .instant, "what if it were TIME (like '2026-12-01 09:30')")
  static let application = Flag("--app", value: "ID", .application, "what if the application ID asked")
  static let policies = Flag("--policies", value: "DIR", .directory, "answer from the policies in DIR")
  static let bundle = Flag("--bundle", value: "FILE", .file, "answer from a bundle")

  /// The flags of a what-if: another host, user or time, and policies that are not installed.
  static let context = [host, user, group, instant, application, policies, bundle]

  static let sign = Flag("--sign", value: "KEY", .file, "sign with the private key in the file KEY")
  static let serial = Flag("--serial", value: "N", .number, "the serial number (default: milliseconds of now)")
  static let allowEmpty = Flag(
    "--allow-empty", "accept policies without keys: every key becomes free")
  static let allowUnsigned = Flag(
    "--allow-unsigned", "go on without signatures where no key is trusted any more")
  static let allowUnresolved = Flag(
    "--allow-unresolved", "accept that names which nobody knows match nobody")
}
