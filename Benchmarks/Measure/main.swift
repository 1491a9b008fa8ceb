import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("reads", 2): measureReads(count: Int(arguments[1])!)
case ("typed", 1): measureTyped()
case ("writes", 2): measureWrites(count: Int(arguments[1])!)
case ("compile", 3): try measureCompile(arguments[1], label: arguments[2])
case ("observe", 1): try observe()
case ("publish", 3): try measurePublish(folder: arguments[1], policyctl: arguments[2])
case ("audit", _): try measureAudit(Array(arguments.dropFirst()))
default:
  print(
    """
    usage: measure reads KEYS | typed | writes KEYS | compile FOLDER LABEL | observe | publish FOLDER POLICYCTL
           measure audit append FOLDER LABEL GROUPS RECORDS | audit verify FOLDER LABEL | audit send FOLDER
    """)
  exit(64)
}
