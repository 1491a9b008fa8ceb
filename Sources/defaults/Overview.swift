import CommandLineKit

/// What `defaults help` lists.
enum Overview {
  /// What other commands, and older ones of this name, call the verbs. Suggested, not understood.
  static let synonyms = ["remove": "delete", "unset": "delete", "set": "write", "get": "read", "list": "domains"]

  static var command: CommandOverview {
    CommandOverview(
      name: Defaults.name, summary: "Reads and writes the preferences of users and applications.",
      flags: "[-currentHost | -host ID] [--any-user] [--root DIR]",
      groups: [
        (
          "read",
          [
            VerbSummary("read", "[DOMAIN [KEY]]: values as applications get them, forced ones first"),
            VerbSummary("read-type", "DOMAIN KEY: the type of a value"),
            VerbSummary("domains", "the names of all domains"),
            VerbSummary("find", "WORD: the domains, keys and values that contain a word"),
            VerbSummary("export", "DOMAIN FILE: a domain's own file as a property list (- to standard output)"),
          ]
        ),
        (
          "change",
          [
            VerbSummary("write", "DOMAIN KEY VALUE: set a key; DOMAIN '{…}': replace a domain"),
            VerbSummary("rename", "DOMAIN OLD NEW: give a value another key"),
            VerbSummary("delete", "DOMAIN [KEY]: remove a key, or everything"),
            VerbSummary("import", "DOMAIN FILE: set every key of a property list (- from standard input)"),
          ]
        ),
      ],
      notes: [
        "DOMAIN   org.example.Editor, ~/file.plist, -g (all applications), -app NAME",
        "VALUE    TEXT, or -string -data -int -float -bool -date -array -array-add -dict -dict-add",
        "-currentHost, -host ID: the file of one host. --any-user: the files for every user.",
        "A key that a policy forces can't be changed: exit status 77.",
      ],
      example: "defaults read -g")
  }
}
