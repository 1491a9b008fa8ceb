import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// The cases of the list of faults that root's verbs carry out with the audit log, with inputs of our own.
@Suite struct AuditFaultCaseTests {
  static let canMount: Bool = {
    let status =
      (try? Sandbox())?.execute(["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]).exitCode
    if status != 0 { print("SKIPPED: no file system can be mounted here, so no audit log's disk is filled") }
    return status == 0
  }()

  /// The log's folder is a file system of 64 KiB, in a namespace of its own, where nothing else sees it.
  @Test(
    "A10: what can't be recorded is not put in force; what was lost is counted; nothing old goes",
    .enabled(if: canMount))
  func aFullDisk() throws {
    let sandbox = try Sandbox(applied: true)
    for value in 0..<60 {
      try sandbox.write(
        "version: 1\nkind: Profile\nid: org.example.n\ntitle: N\nforced:\n  org.example.Editor: {A: \(value)}\n",
        to: "n\(value)/n.yaml")
    }
    let result = sandbox.execute([
      "unshare", "-m", "sh", "-c",
      """
      policyctl=$0 root=$1 log=$1/var/log/managed-preferences anchor=$1/var/lib/managed-preferences/audit-anchor
      ctl() { "$policyctl" --root "$root" "$@"; }
      kept=$root/../kept && cp -a "$log" "$kept" && mount -t tmpfs -o size=64k,mode=0750 none "$log" && cp -a "$kept"/. "$log"
      value=0
      ctl apply "n$value" >/dev/null || echo "not applied"
      cat /dev/zero >"$log/filler" 2>/dev/null
      while [ $value -lt 59 ]; do
        next=$((value + 1))
        ctl apply "n$next" >/dev/null 2>errors || { echo "refused $?"; break; }
        value=$next
      done
      [ "$(ctl get org.example.Editor A)" = "$value" ] && echo "the old value"
      "$2" "$log" "$anchor" append 20 1 >/dev/null && echo "20 events were taken"
      ctl audit verify >/dev/null && echo "sound when full"
      rm "$log/filler"
      ctl apply "n$next" >/dev/null && [ "$(ctl get org.example.Editor A)" = "$next" ] && echo "the new value"
      ctl audit show --kind audit.dropped | grep -o 'count=[0-9]*'
      ctl audit verify >/dev/null && echo "sound again"
      mount -o remount,ro "$log" && ctl apply n0 >/dev/null 2>&1; echo "read-only $?"
      mount -o remount,rw "$log"
      for kept in 0 1 0; do ctl audit prune --keep $kept >/dev/null || echo "prune $?"; done
      ls "$log" | grep -c '[.]jsonl$'
      ctl audit verify >/dev/null && echo "sound at last"
      """, Sandbox.binary, sandbox.root, Sandbox.binary("AuditPeer"),
    ])
    #expect(
      result.output == """
        refused 74
        the old value
        20 events were taken
        sound when full
        the new value
        count=20
        sound again
        read-only 74
        1
        sound at last

        """, "\(result.errors)")
    #expect(try sandbox.read("errors").contains("there is no room left on the disk, nor in the reserve"))
  }

  /// The secret is the value of a key that a manifest calls secret, of a forced one, and of one that is deep inside.
  @Test("A09: no output, log or export holds a secret")
  func secretsAreNowhere() throws {
    let secret = "hunter-s3cret"
    let sandbox = try Sandbox()
    func policy(_ forced: String) -> String {
      """
      version: 1
      kind: Profile
      id: org.lab.net
      title: Net
      forced:
        org.lab.net: {\(forced)}
      ---
      version: 1
      kind: Manifest
      domain: org.lab.net
      keys:
        port: {type: integer}
        proxyPassword: {type: string, secret: true}

      """
    }
    try sandbox.write(policy("port: 1, proxy: {auth: {credential: none}}"), to: "good/net.yaml")
    try sandbox.write(policy("port: 1, proxyPassword: \(secret)"), to: "forced/net.yaml")
    try sandbox.write(policy("port: \"none\", proxyPassword: \(secret)"), to: "broken/net.yaml")
    sandbox.run("init", "--host", "lab-a-03")
    #expect(sandbox.run("apply", "good").exitCode == 0)
    var outputs: [Sandbox.Result] = [sandbox.run("apply", "forced")]
    outputs.append(sandbox.run("apply", "broken"))
    // The same where the file, or the manifest, is no YAML.
    for (name, forced) in [
      "quotes": "port: 1, proxyPassword: \"\(secret)", "list": "port: 1, proxyPassword: [\(secret)",
      "alias": "proxyPassword: *\(secret)", "star": "proxyPassword: * \(secret)",
      "tag": "proxyPassword: !!int \(secret)",
      "depth": "proxy: {auth: {credential: !\(secret) x}}", "brackets": "proxyPassword: [a[\(secret)]]",
    ] {
      let text = policy(forced)
      let parts = text.split(separator: "---\n").map(String.init)
      for (sort, files) in ["one": [text], "two": parts, "broken": [parts[0], parts[1] + "  x: ["]] {
        let folder = "\(name)-\(sort)"
        for (index, file) in files.enumerated() { try sandbox.write(file, to: "\(folder)/\(index).yaml") }
        for words in [
          ["check", folder], ["check", folder, "--format", "json"], ["apply", folder], ["test", folder],
          ["compile", folder, "-o", "x.bundle"], ["get", "org.lab.net", "--policies", folder],
          ["report", "--policies", folder],
        ] { outputs.append(sandbox.execute([Sandbox.binary, "--root", sandbox.root] + words)) }
      }
    }
    for output in outputs { #expect(output.exitCode != 0) }
    let defaults = Sandbox.binary("defaults")
    let environment = ["MANAGED_PREFERENCES_ROOT": sandbox.root]
    for words in [
      ["write", "org.lab.net", "proxyPassword", secret], ["write", "org.lab.net", "port", secret],
      ["write", "org.lab.net", "proxy", "{ auth = { credential = \"\(secret)\"; }; }"],
    ] { outputs.append(sandbox.execute([defaults] + words, environment: environment)) }
    outputs += [
      sandbox.run("audit", "show"), sandbox.run("audit", "show", "--format", "json"), sandbox.run("audit", "verify"),
      sandbox.run("report", "--format", "json"), sandbox.run("report", "--format", "html"), sandbox.run("status"),
    ]
    for form in ["json", "csv", "html"] {
      #expect(sandbox.run("audit", "export", "--format", form, "-o", "out.\(form)").exitCode == 0)
      #expect(try !sandbox.read("out.\(form)").contains(secret), "\(form)")
    }
    for output in outputs { #expect(!output.output.contains(secret) && !output.errors.contains(secret), "\(output)") }
    var files = try sandbox.contents(of: AuditTests.log(sandbox))
    // Events that no agent has taken wait here.
    let spools = try sandbox.contents(of: sandbox.home).filter {
      $0.key.hasSuffix(".jsonl") || $0.key.contains("spool")
    }
    files.merge(spools) { $1 }
    for (path, bytes) in files { #expect(!String(decoding: bytes, as: UTF8.self).contains(secret), "\(path)") }
    for name in ["audit-000000000001.jsonl", "lock"] {
      let mode = try FileMetadata.of(AuditTests.log(sandbox) + "/" + name).permissions
      #expect(mode == 0o640 || mode == 0o600)
    }
  }
}

/// `policyctl` is killed as it enters each system call by which the audit log gets its record.
@Suite struct AuditKillTests {
  static let canTrace: Bool = {
    let status =
      (try? Sandbox())?.execute(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=openat", "true"]).exitCode
    if status != 0 {
      print("SKIPPED: strace is missing or may not trace here, so policyctl is not killed in its calls")
    }
    return status == 0
  }()

  @Test(
    .enabled(if: canTrace), arguments: ["pwrite64", "fdatasync", "fsync", "fallocate", "flock", "unlinkat", "renameat"])
  func aKilledVerbLeavesAChainAndAPolicy(call: String) throws {
    let sandbox = try Sandbox(applied: true)
    var policies = 0
    // Each goes a call further than the one before, and then one gets to its end.
    for number in 1..<60 {
      policies += 1
      try sandbox.write(
        "version: 1\nkind: Profile\nid: org.example.n\ntitle: N\nforced:\n  org.example.Editor: {A: \(policies)}\n",
        to: "new/n.yaml")
      let result = sandbox.execute([
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
        "inject=\(call):signal=KILL:when=\(number)", Sandbox.binary, "--root", sandbox.root, "apply", "new",
      ])
      // What is in force is on record, whether or not the verb came to say so.
      let verified = sandbox.run("audit", "verify")
      #expect(verified.exitCode == 0, "\(call) \(number): \(verified.output)")
      let value = sandbox.run("get", "org.example.Editor", "A").output
      let status = try JSON(sandbox.run("status", "--format", "json").output)
      let installed = try JSON(sandbox.run("audit", "show", "--kind", "policy.installed", "--format", "json").output)
      let recorded = installed["records"].elements.map { $0["fields"]["generation"].text }
      #expect(recorded.contains(status["generation"].text), "\(call) \(number): \(value)")
      if result.exitCode == 0 { return }
      #expect(result.exitCode == -SIGKILL || result.exitCode == 128 + SIGKILL, "\(call) \(number): \(result.errors)")
    }
    Issue.record("\(call) never came to an end")
  }
}
