import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Which file a command is about: hosts, every user, paths, applications.
@Suite struct PlaceTests {
  @Test func filesOfOneHost() throws {
    let sandbox = try Sandbox()
    expect(sandbox.defaults("-currentHost", "write", "org.lab.t", "k", "here"), in: sandbox)
    expect(sandbox.defaults("-host", "elsewhere", "write", "org.lab.t", "k", "there"), in: sandbox)
    let folder = sandbox.configuration + "/ByHost"
    #expect(
      try Directory.names(in: folder)
        == ["org.lab.t.\(sandbox.hostIdentifier).plist", "org.lab.t.elsewhere.plist"].sorted())
    expect(sandbox.defaults("read", "-currentHost", "org.lab.t", "k"), output: "here\n", in: sandbox)
    expect(sandbox.defaults("-host", "elsewhere", "read", "org.lab.t", "k"), output: "there\n", in: sandbox)
    expect(
      sandbox.defaults("-host", sandbox.hostIdentifier, "read", "org.lab.t", "k"), output: "here\n", in: sandbox)
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: "here\n", in: sandbox)
    expect(sandbox.defaults("-host", "elsewhere", "domains"), output: "org.lab.t\n", in: sandbox)
    expect(sandbox.defaults("domains"), output: "org.lab.t\n", in: sandbox)
    expect(
      sandbox.defaults("-currentHost", "read", "org.lab.t", "j"), 1,
      errors: "defaults: The domain/default pair of (org.lab.t, j) does not exist; did you mean 'k'?\n"
        + "Next: defaults --root SANDBOX/root -currentHost read org.lab.t\n", in: sandbox)
    #expect(sandbox.defaults("-currentHost", "-host", "x", "domains").exitCode == 64)
    #expect(sandbox.defaults("-host", "../x", "read", "d").exitCode == 64)
  }

  /// Files for every user: written below the root, readable by all, read after the user's own.
  @Test func filesForEveryUser() throws {
    let sandbox = try Sandbox()
    expect(sandbox.defaults("--any-user", "write", "org.lab.t", "k", "all"), in: sandbox)
    let file = sandbox.root + "/etc/managed-preferences/defaults/org.lab.t.plist"
    #expect(try FileMetadata.of(file).permissions == 0o644)
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: "all\n", in: sandbox)
    sandbox.defaults("write", "org.lab.t", "k", "mine")
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: "mine\n", in: sandbox)
    expect(sandbox.defaults("--any-user", "read", "org.lab.t"), output: "{\n    k = all;\n}\n", in: sandbox)
    expect(
      sandbox.defaults("--any-user", "write", "org.lab.t", "k", "others"),
      errors: "defaults: note: applications go on reading another value of k, from a file that comes first: "
        + "SANDBOX/home/.config/org.lab.t.plist\nNext: defaults --root SANDBOX/root delete org.lab.t k\n", in: sandbox)
    expect(sandbox.defaults("read", file, "k"), output: "others\n", in: sandbox)
  }

  @Test func domainsByPath() throws {
    let sandbox = try Sandbox()
    expect(sandbox.defaults("write", "./settings", "k", "-int", "1"), in: sandbox)
    #expect(try Directory.names(in: sandbox.work) == ["settings.plist"])
    for path in ["./settings", "./settings.plist", sandbox.work + "/settings", sandbox.work + "/settings.plist"] {
      expect(sandbox.defaults("read", path, "k"), output: "1\n", in: sandbox)
      expect(sandbox.defaults("read-type", path, "k"), output: "Type is integer\n", in: sandbox)
    }
    expect(sandbox.defaults("rename", "./settings", "k", "j"), in: sandbox)
    expect(sandbox.defaults("export", "./settings", "./copy.plist"), in: sandbox)
    expect(sandbox.defaults("import", "./other", "./copy.plist"), in: sandbox)
    expect(sandbox.defaults("read", "./other"), output: "{\n    j = 1;\n}\n", in: sandbox)
    expect(sandbox.defaults("delete", "./other", "j"), in: sandbox)
    expect(
      sandbox.defaults("read", "./nowhere"), 1,
      errors: "defaults: Domain ./nowhere does not exist\nNext: defaults --root SANDBOX/root domains\n", in: sandbox)
    #expect(sandbox.defaults("-currentHost", "read", "./settings").exitCode == 64)
    let result = sandbox.defaults("write", "./no/folder/x", "k", "1")
    #expect(result.exitCode == 73 && result.errors.contains("; nothing was written\n"), "\(result.errors)")
  }

  /// Where macOS keeps domains there are none here, and the domain by name is what was meant.
  @Test func aPathOfMacLeadsToTheName() throws {
    let sandbox = try Sandbox()
    for (path, flags) in [
      ("/Library/Preferences/org.lab.t", "--any-user "), ("/Library/Preferences/org.lab.t.plist", "--any-user "),
      (sandbox.home + "/Library/Preferences/org.lab.t", ""),
    ] {
      let shown = path.replacing(sandbox.path, with: "SANDBOX")
      expect(
        sandbox.defaults("read", path, "k"), 1,
        errors: "defaults: The domain/default pair of (\(shown), k) does not exist\n"
          + "Next: defaults --root SANDBOX/root \(flags)read org.lab.t k\n"
          + "Next: defaults --root SANDBOX/root domains\n", in: sandbox)
    }
    let path = sandbox.home + "/Library/Preferences/org.lab.t"
    expect(
      sandbox.defaults("write", path, "k", "-int", "1"), 73,
      errors: "defaults: cannot open SANDBOX/home/Library/Preferences: No such file or directory; nothing was written\n"
        + "Next: defaults --root SANDBOX/root write org.lab.t k -int 1\n", in: sandbox)
  }

  /// A path to one of a domain's files is that file: what comes before it is told, and no more.
  @Test func aPathKnowsItsPlace() throws {
    let sandbox = try Sandbox()
    let here = sandbox.configuration + "/ByHost/org.lab.t.\(sandbox.hostIdentifier).plist"
    sandbox.defaults("-currentHost", "write", "org.lab.t", "k", "1")
    expect(sandbox.defaults("write", here, "k", "2"), in: sandbox)
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: "2\n", in: sandbox)
    expect(
      sandbox.defaults("write", sandbox.configuration + "/org.lab.t", "k", "3"),
      errors: "defaults: note: applications go on reading another value of k, from a file that comes first: "
        + "SANDBOX/home/.config/ByHost/org.lab.t.HOST.plist\n"
        + "Next: defaults --root SANDBOX/root -currentHost delete org.lab.t k\n", in: sandbox)
    let everyUser = sandbox.root + "/etc/managed-preferences/defaults/org.lab.u"
    try Directory.createAll(sandbox.root + "/etc/managed-preferences/defaults")
    expect(sandbox.defaults("write", everyUser, "k", "4"), in: sandbox)
    #expect(try FileMetadata.of(everyUser + ".plist").permissions == 0o644)
    expect(sandbox.defaults("read", "org.lab.u", "k"), output: "4\n", in: sandbox)
  }

  @Test func applicationsAreFoundByDesktopEntryAndCommand() throws {
    let sandbox = try Sandbox()
    let entries = sandbox.home + "/.local/share/applications/"
    try sandbox.write("[Desktop Entry]\nName=Map Viewer\n[Other]\nName=No\n", to: entries + "org.example.Map.desktop")
    try sandbox.write("[Desktop Entry]\nName=Twin\n", to: entries + "org.example.A.desktop")
    try sandbox.write("[Desktop Entry]\nName=Twin\n", to: entries + "org.example.B.desktop")
    let environment = ["XDG_DATA_DIRS": sandbox.work, "PATH": sandbox.work + "/bin:/usr/bin:/bin"]
    try sandbox.write("#!/bin/sh\n", to: "bin/real-editor")
    chmod(sandbox.work + "/bin/real-editor", 0o755)
    symlink("real-editor", sandbox.work + "/bin/edit")
    for (name, domain) in [
      ("org.example.Map", "org.example.Map"), ("org.example.Map.desktop", "org.example.Map"),
      ("map viewer", "org.example.Map"), ("edit", "real-editor"), (sandbox.work + "/bin/edit", "real-editor"),
    ] {
      expect(sandbox.defaults(["write", "-app", name, "k", name], environment: environment), in: sandbox)
      expect(sandbox.defaults("read", domain, "k"), output: name + "\n", in: sandbox)
      expect(sandbox.defaults(["read", "-app", name, "k"], environment: environment), output: name + "\n", in: sandbox)
    }
    expect(
      sandbox.defaults(["read", "-app", "Twin"], environment: environment), 64,
      errors: "defaults: 2 applications are called 'Twin': org.example.A, org.example.B\n"
        + "Next: defaults read -app org.example.A\n", in: sandbox)
    let unknown = sandbox.defaults(["read", "-app", "Nobody"], environment: environment)
    #expect(unknown.exitCode == 66 && unknown.errors.hasPrefix("defaults: there is no application 'Nobody': "))
    #expect(sandbox.defaults("read", "-g", "-app", "x").exitCode == 64)
  }

  /// The installation that counts: a root in the environment only where nothing is installed (DESIGN §3), `--root` always.
  @Test func theRootOfTheEnvironment() throws {
    let sandbox = try Sandbox(policy: "forced: {org.lab.t: {k: X}}\n")
    let command = [Sandbox.binary("defaults"), "read", "org.lab.t", "k"]
    #expect(sandbox.execute(command).exitCode == 1)
    let installed = (try? FileMetadata.of("/var/lib/managed-preferences/generation", followingLinks: false)) != nil
    let result = sandbox.execute(command, environment: ["MANAGED_PREFERENCES_ROOT": sandbox.root])
    #expect(result.output == (installed ? "" : "X\n"))
    let other = try Sandbox()
    let explicit = other.defaults(["read", "org.lab.t", "k"], environment: ["MANAGED_PREFERENCES_ROOT": sandbox.root])
    #expect(explicit.exitCode == 1)
  }
}
