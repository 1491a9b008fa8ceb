# Turns lines "name, median, unit, minimum, maximum" (between tabs) into the figures, and the figures into ratios with
# their targets. A name that was measured in several rounds counts with the median of its medians.
{
  count[$1]++
  value[$1, count[$1]] = $2
  unit[$1] = $3
  if (count[$1] == 1) order[++names] = $1
}
function median(name,   i, j, n, list, swap) {
  n = count[name]
  if (!n) return ""
  for (i = 1; i <= n; i++) list[i] = value[name, i]
  for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (list[j] < list[i]) { swap = list[i]; list[i] = list[j]; list[j] = swap }
  return list[int((n + 1) / 2)]
}
# a ÷ b against a target: at most (<=) or at least (>=).
function ratio(what, a, b, sign, target,   x, y) {
  x = median(a); y = median(b)
  if (x == "" || y == "") return
  line(what, x / y, sign, target, "×")
}
# The same after the loop's own cost, which only our side pays, is taken off.
function net(what, a, b, loop, target,   x, y) {
  x = median(a); y = median(b)
  if (x == "" || y == "") return
  line(what, (x - median(loop)) / y, "<=", target, "×")
}
function limit(what, a, sign, target) { if (median(a) != "") line(what, median(a), sign, target, unit[a]) }
# Targets are set for 10,000 keys, and for compiles of 100,000; other sizes stand there for comparison.
function line(what, figure, sign, target, suffix,   met) {
  if (what ~ / 100 keys/ && what !~ /^(set|dconf read ÷ policyctl|policyctl get)/ || what ~ / 1000 keys/ && what ~ /compile|dconf update/) {
    printf "  %-72s %8.2f %-3s\n", what, figure, suffix
    return
  }
  met = sign == "<=" ? figure <= target : figure >= target
  printf "  %-72s %8.2f %-3s %s %-6s %s\n", what, figure, suffix, sign == "<=" ? "≤" : "≥", target, met ? "ok" : "SHORT"
}
END {
  print "Figures (medians):"
  for (i = 1; i <= names; i++) printf "  %-72s %12.2f %s\n", order[i], median(order[i]), unit[order[i]]
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
    ratio("dconf read ÷ policyctl get, time, " plain, "dconf read, " plain ", time", "policyctl get, " plain ", time", ">=", 1.5)
    ratio("policyctl get ÷ dconf read, memory, " plain, "policyctl get, " plain ", memory", "dconf read, " plain ", memory", "<=", 1)
    limit("set, " plain, "ManagedDefaults set, " plain, "<=", 50)
  }
  for (k = 1; k <= 2; k++) {
    plain = k == 1 ? "1000 keys" : "100000 keys"
    ratio("compile ÷ libyaml events, " plain, "compile, " plain, "libyaml events, " plain, "<=", 2.5)
    ratio("dconf update ÷ policyctl compile, time, " plain, "dconf update, " plain ", time", "policyctl compile, " plain ", time", ">=", 5)
    ratio("policyctl compile's memory ÷ sources, " plain, "policyctl compile, " plain ", memory", "sources, " plain, "<=", 10)
  }
  limit("publish to visible", "publish to visible", "<=", 5)
  limit("YAML edit to visible, 1000 keys", "YAML edit to visible", "<=", 20)
}
