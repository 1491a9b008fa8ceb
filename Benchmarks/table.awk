# Turns lines "name, median, unit, minimum, maximum" (between tabs) into the figures, and the figures into ratios with
# their targets. A name that was measured in several rounds counts with the least of its medians: what else runs on the
# machine makes a round slower, never faster, and which contender it meets is chance.
{
  if (!($1 in least)) order[++names] = $1
  if (!($1 in least) || $2 < least[$1]) least[$1] = $2 + 0
  unit[$1] = $3
}
function figure(name) { return name in least ? least[name] : "" }
# a ÷ b against a target: at most (<=) or at least (>=).
function ratio(what, a, b, sign, target,   x, y) {
  x = figure(a); y = figure(b)
  if (x == "" || y == "") return
  line(what, x / y, sign, target, "×")
}
# The same after the loop's own cost, which only our side pays, is taken off.
function net(what, a, b, loop, target,   x, y) {
  x = figure(a); y = figure(b)
  if (x == "" || y == "") return
  line(what, (x - figure(loop)) / y, "<=", target, "×")
}
function limit(what, a, sign, target) { if (figure(a) != "") line(what, figure(a), sign, target, unit[a]) }
# One of our commands as a whole process, beside dconf's.
function launch(command, keys) {
  ratio("dconf read ÷ " command ", time, " keys, "dconf read, " keys ", time", command ", " keys ", time", ">=", 1.5)
  ratio(command " ÷ dconf read, memory, " keys, command ", " keys ", memory", "dconf read, " keys ", memory", "<=", 1)
}
# Targets are set for 10,000 keys, and for compiles of 100,000; other sizes stand there for comparison.
function line(what, value, sign, target, suffix,   met) {
  if (what ~ / 100 keys/ && what !~ /^set|, time|, memory/ || what ~ / 1000 keys/ && what ~ /compile|dconf update/) {
    printf "  %-72s %8.2f %-3s\n", what, value, suffix
    return
  }
  met = sign == "<=" ? value <= target : value >= target
  printf "  %-72s %8.2f %-3s %s %-6s %s\n", what, value, suffix, sign == "<=" ? "≤" : "≥", target, met ? "ok" : "SHORT"
}
END {
  print "Figures (the least of the rounds' medians):"
  for (i = 1; i <= names; i++) printf "  %-72s %12.2f %s\n", order[i], figure(order[i]), unit[order[i]]
  print "\nRatios and targets:"
  for (k = 1; k <= 2; k++) {
    keys = (k == 1 ? "100" : "10000") " keys,"
    one = keys " 1 thread"; two = keys " 2 threads"
    net("SearchList isForced hit without the loop ÷ C table, " keys, "SearchList isForced hit, " one, "C table, hit, " one, "loop alone, " one, 2)
    net("SearchList isForced miss without the loop ÷ C table, " keys, "SearchList isForced miss, " one, "C table, miss, " one, "loop alone, " one, 2)
    net("SearchList bool without the loop ÷ C table, " keys, "SearchList bool, " one, "C table, hit, " one, "loop alone, " one, 2)
    net("SearchList integer without the loop ÷ C table, " keys, "SearchList integer, " one, "C table, hit, " one, "loop alone, " one, 2)
    ratio("dconf is_writable ÷ SearchList isForced, " keys, "dconf is_writable, " one, "SearchList isForced hit, " one, ">=", 3)
    ratio("dconf read bool ÷ SearchList bool, " keys, "dconf read bool, " one, "SearchList bool, " one, ">=", 15)
    ratio("dconf read integer ÷ SearchList integer, " keys, "dconf read integer, " one, "SearchList integer, " one, ">=", 15)
    ratio("dconf read string ÷ SearchList string, " keys, "dconf read string, " one, "SearchList string, " one, ">=", 6)
    ratio("UserDefaults bool ÷ SearchList bool, " keys, "UserDefaults bool, " one, "SearchList bool, " one, ">=", 35)
    ratio("UserDefaults integer ÷ SearchList integer, " keys, "UserDefaults integer, " one, "SearchList integer, " one, ">=", 35)
    ratio("GSettings get bool ÷ SearchList bool, " keys, "GSettings get bool, " one, "SearchList bool, " one, ">=", 15)
    ratio("ManagedDefaults objectIsForced ÷ SearchList, " keys, "ManagedDefaults objectIsForced hit, " one, "SearchList isForced hit, " one, "<=", 1.5)
    ratio("ManagedDefaults bool ÷ SearchList, " keys, "ManagedDefaults bool, " one, "SearchList bool, " one, "<=", 1.5)
    ratio("ManagedDefaults integer ÷ SearchList, " keys, "ManagedDefaults integer, " one, "SearchList integer, " one, "<=", 1.5)
    ratio("ManagedDefaults string ÷ SearchList, " keys, "ManagedDefaults string, " one, "SearchList string, " one, "<=", 1.5)
    ratio("SearchList isForced, 2 threads ÷ 1, " keys, "SearchList isForced hit, " two, "SearchList isForced hit, " one, "<=", 1.3)
    ratio("SearchList bool, 2 threads ÷ 1, " keys, "SearchList bool, " two, "SearchList bool, " one, "<=", 1.3)
    ratio("SearchList string, 2 threads ÷ 1, " keys, "SearchList string, " two, "SearchList string, " one, "<=", 1.3)
    plain = k == 1 ? "100 keys" : "10000 keys"
    launch("policyctl get", plain)
    launch("defaults read", plain)
    limit("set, " plain, "ManagedDefaults set, " plain, "<=", 50)
  }
  one = " 1 thread"
  ratio("$property.isForced ÷ ManagedDefaults", "typed: $property.isForced," one, "typed: ManagedDefaults objectIsForced," one, "<=", 2)
  ratio("Bool property ÷ ManagedDefaults", "typed: Bool property," one, "typed: ManagedDefaults bool," one, "<=", 2)
  ratio("Int property ÷ ManagedDefaults", "typed: Int property," one, "typed: ManagedDefaults integer," one, "<=", 2)
  ratio("String property ÷ ManagedDefaults", "typed: String property," one, "typed: ManagedDefaults string," one, "<=", 2)
  ratio("String? property ÷ ManagedDefaults", "typed: String? property," one, "typed: ManagedDefaults string," one, "<=", 2)
  ratio("[String] property ÷ ManagedDefaults", "typed: [String] property," one, "typed: ManagedDefaults stringArray," one, "<=", 2)
  ratio("sharedInstance and property ÷ ManagedDefaults", "typed: sharedInstance and Int property," one, "typed: ManagedDefaults standard and integer," one, "<=", 2)
  ratio("Int property, 2 threads ÷ 1", "typed: Int property, 2 threads", "typed: Int property," one, "<=", 1.3)
  for (k = 1; k <= 2; k++) {
    plain = k == 1 ? "1000 keys" : "100000 keys"
    ratio("compile ÷ libyaml events, " plain, "compile, " plain, "libyaml events, " plain, "<=", 2.5)
    ratio("dconf update ÷ policyctl compile, time, " plain, "dconf update, " plain ", time", "policyctl compile, " plain ", time", ">=", 5)
    ratio("policyctl compile's memory ÷ sources, " plain, "policyctl compile, " plain ", memory", "sources, " plain, "<=", 10)
  }
  if (figure("bubblewrap, time") != "") {
    nothing = figure("nothing, time")
    line("what policyctl run adds ÷ what bubblewrap adds", (figure("policyctl run, time") - nothing) / (figure("bubblewrap, time") - nothing), "<=", 2, "×")
  }
  forms = split("text json html csv junit", form, " ")
  for (i = 1; i <= forms; i++) limit("report of 500 controls on 1000 hosts, " form[i], "report of 1000 hosts, " form[i] ", time", "<=", 5)
  ratio("audit append ÷ SQLite, durable groups of 256", "audit append, durable groups of 256", "SQLite, durable groups of 256", "<=", 1)
  ratio("sd_journal_send ÷ audit append, durable groups of 256", "sd_journal_send", "audit append, durable groups of 256", ">=", 1)
  ratio("audit verify ÷ libcrypto SHA-256, 1,000,000 records", "audit verify, 1,000,000 records", "libcrypto SHA-256, the same bytes", "<=", 1.3)
  limit("audit, sending an event", "audit, sending an event", "<=", 5)
  for (k = 1; k <= 2; k++) {
    pushed = "a change, " (k == 1 ? 1 : 100) " in a push"
    ratio("changes per second, PostgreSQLBackEnd ÷ libpq loop, " (k == 1 ? 1 : 100) " in a push", "libpq loop, " pushed, "PostgreSQLBackEnd, " pushed, ">=", 0.7)
  }
  ratio("change to notified, PostgreSQLBackEnd ÷ libpq loop", "PostgreSQLBackEnd, change to notified", "libpq loop, change to notified", "<=", 2)
  limit("publish to visible", "publish to visible", "<=", 5)
  limit("YAML edit to visible, 1000 keys", "YAML edit to visible", "<=", 20)
}
