import CommandLineKit

/// What `policyctl --help` lists. A verb's own flags stand in its file.
enum Overview {
  static let command = CommandOverview(
    name: "policyctl",
    summary: "Make policies binding on this host, and tell why a preference has its value.",
    groups: [
      (
        "Set up",
        [
          VerbSummary("init", "make the directories and an empty generation 0"),
          VerbSummary("enroll", "give this host its name"),
          VerbSummary("key", "make, trust and list signing keys"),
          VerbSummary("uninstall", "give the host back as it was"),
        ]
      ),
      (
        "Write policies",
        [
          VerbSummary("check", "look for mistakes; write nothing"),
          VerbSummary("test", "run the tests of the policies"),
          VerbSummary("compile", "make one bundle for the whole fleet"),
          VerbSummary("schema", "print the JSON Schema for editors"),
        ]
      ),
      (
        "Make them binding",
        [
          VerbSummary("apply", "check, compile and install here"),
          VerbSummary("install", "install a bundle on this host"),
          VerbSummary("refresh", "look up users and time windows anew"),
        ]
      ),
      (
        "Ask",
        [
          VerbSummary("get", "print the value of a key, as applications read it"),
          VerbSummary("explain", "tell why a key has its value"),
          VerbSummary("status", "tell what is in force here, and what is wrong"),
          VerbSummary("generations", "list what was installed"),
          VerbSummary("report", "evaluate the controls, with the evidence"),
        ]
      ),
      (
        "Audit",
        [
          VerbSummary("audit", "show, verify, export and tend the audit log")
        ]
      ),
      (
        "Contain applications",
        [
          VerbSummary("run", "run a program in an application's container"),
          VerbSummary("containers", "list, show, reset and remove containers"),
        ]
      ),
    ],
    example: "policyctl status")

  static let audit = CommandOverview(
    name: "policyctl audit",
    summary: "Show, verify, export and tend the audit log of this host.",
    groups: [
      (
        "Verbs",
        [
          VerbSummary("show", "print records"),
          VerbSummary("verify", "tell whether the log is what was written"),
          VerbSummary("head", "print the log's end, to keep elsewhere"),
          VerbSummary("export", "write the log into one file"),
          VerbSummary("acknowledge", "say that an alarm was looked into"),
          VerbSummary("set-aside", "begin anew behind a log that does not verify"),
          VerbSummary("prune", "remove old segments, with a checkpoint"),
          VerbSummary("erase", "erase the personal parts of a user's records"),
        ]
      )
    ],
    example: "policyctl audit verify")

  static let keys = CommandOverview(
    name: "policyctl key",
    summary: "Make, trust and list the keys that sign bundles.",
    groups: [
      (
        "Verbs",
        [
          VerbSummary("generate", "make a signing key"),
          VerbSummary("trust", "accept bundles that a key has signed"),
          VerbSummary("list", "list the keys that this host trusts"),
        ]
      )
    ],
    example: "policyctl key list")
}
