import CommandSandbox
import Glibc
import LinuxFiles
import PreferencesCore
import Testing

/// What a policy and the command line share with a contained program: groups, domains to read, files.
@Suite(.enabled(if: ContainedRuns.isAvailable)) struct RunSharingTests {
  static let group = "/run/managed-preferences/groups/group.org.example.suite"
  static let read = "/run/managed-preferences/read"

  @Test func aGroupIsSharedBothWays() throws {
    let sandbox = try RunSandbox()
    #expect(sandbox.shell("echo from editor > \(Self.group)/a").exitCode == 0)
    let viewer = sandbox.shell("cat \(Self.group)/a; echo from viewer > \(Self.group)/b", app: "org.example.Viewer")
    #expect(viewer.output == "from editor\n")
    #expect(sandbox.run(["cat", Self.group + "/b"]).output == "from viewer\n")
    #expect(try sandbox.sandbox.read(sandbox.group("group.org.example.suite") + "/b") == "from viewer\n")
    let other = sandbox.shell("ls -A /run/managed-preferences/groups", app: "org.example.Other")
    #expect(other.output == "")
    #expect(other.exitCode == 0)
  }

  /// A folder that is a link outside (to a server, as a rule) is there under the name that the policy says, and its own.
  @Test func aFolderBehindALinkHasBothNames() throws {
    let sandbox = try RunSandbox()
    let server = sandbox.work + "/server"
    try Directory.remove(sandbox.home + "/Documents")
    symlink(server, sandbox.home + "/Documents")
    try sandbox.write("letter\n", to: server + "/letter")
    let result = sandbox.shell("cat ~/Documents/letter \(server)/letter; echo new > ~/Documents/new")
    #expect(result.output == "letter\nletter\n")
    #expect(result.errors == "")
    #expect(try sandbox.sandbox.read(server + "/new") == "new\n")
  }

  /// `defaults` and the library ask the files in one order: of what may be read, both of the owner's first; of the global
  /// domain, both of its own.
  @Test func theCommandAsksInTheOrderOfTheLibrary() throws {
    let sandbox = try RunSandbox()
    let defaults = Sandbox.binary("defaults")
    let fonts = "org.example.Fonts"
    try sandbox.write("{ Size = 12; }", to: sandbox.configuration + "/\(fonts).plist")
    try sandbox.write(
      "{ Format = host; }", to: sandbox.configuration + "/ByHost/.GlobalPreferences.\(HostIdentifier.current()).plist")
    let written = sandbox.run([defaults, "-currentHost", "write", fonts, "Size", "-int", "98"])
    #expect(written.exitCode == 0)
    #expect(written.errors.contains("note: applications go on reading another value of Size"))
    #expect(sandbox.run([defaults, "write", "-g", "Format", "mine"]).errors == "")
    #expect(sandbox.run([defaults, "read", fonts, "Size"]).output == "12\n")
    #expect(sandbox.run([defaults, "read", "-g", "Format"]).output == "mine\n")
    #expect(sandbox.run([defaults, "read", "--layers", fonts, "Size"]).output.hasPrefix("Size = \"12\""))
    #expect(sandbox.run([defaults, "read", "--layers", "-g", "Format"]).output.hasPrefix("Format = \"mine\""))
  }

  @Test func whatMayBeReadIsThereAndNothingElse() throws {
    let sandbox = try RunSandbox()
    let host = "0123456789abcdef0123456789abcdef"
    for name in [".GlobalPreferences", "org.example.Fonts", "org.example.Other"] {
      try sandbox.write("\(name)\n", to: sandbox.configuration + "/\(name).plist")
      try sandbox.write("other host\n", to: sandbox.configuration + "/ByHost/\(name).\(host).plist")
    }
    let result = sandbox.shell(
      "cd \(Self.read); find . -type f | sort | xargs cat; echo x > org.example.Fonts.plist; rm -f org.example.Fonts.plist"
    )
    #expect(result.output == ".GlobalPreferences\norg.example.Fonts\n")
    #expect(result.exitCode == 1)
    // Of this host too.
    let own = "ByHost/org.example.Fonts.\(HostIdentifier.current()).plist"
    try sandbox.write("this host\n", to: sandbox.configuration + "/" + own)
    #expect(sandbox.run(["cat", Self.read + "/" + own]).output == "this host\n")
  }

  /// The owner replaces its file by rename while the program looks; then removes it; then it is there again.
  @Test func aCopyStaysAsNewAsTheDomain() throws {
    let sandbox = try RunSandbox()
    try sandbox.write("old\n", to: sandbox.configuration + "/org.example.Fonts.plist")
    let result = sandbox.outside(
      """
      cd ~/.config
      $RUN -- sh -c '
        file=\(Self.read)/org.example.Fonts.plist
        await() { i=0; while test "$(cat $file 2>/dev/null)" != "$1"; do i=$((i + 1)); test $i -lt 6000 || exit 1; sleep 0.02; done; }
        await old; echo old > ~/seen.old
        await new; echo new > ~/seen.new
        await ""; test ! -e $file; echo gone > ~/seen.gone
        await again; echo again
      ' &
      home='\(sandbox.containerHome())'
      wait_for "$home/seen.old" || exit 1; echo new > .tmp; mv .tmp org.example.Fonts.plist
      wait_for "$home/seen.new" || exit 1; rm org.example.Fonts.plist
      wait_for "$home/seen.gone" || exit 1; echo again > org.example.Fonts.plist
      wait $!
      """)
    #expect(result.output == "again\n", "\(result.errors)")
    #expect(result.exitCode == 0)
  }

  /// A domain that has a container lives there.
  @Test func aCopyOfAContainedDomainIsTheContainers() throws {
    let sandbox = try RunSandbox()
    try sandbox.write("outside\n", to: sandbox.configuration + "/org.example.Viewer.plist")
    #expect(sandbox.run(["cat", Self.read + "/org.example.Viewer.plist"]).output == "outside\n")
    let own = "mkdir -p ~/.config; echo contained > ~/.config/org.example.Viewer.plist"
    #expect(sandbox.shell(own, app: "org.example.Viewer").exitCode == 0)
    #expect(sandbox.run(["cat", Self.read + "/org.example.Viewer.plist"]).output == "contained\n")
  }

  /// A group's domain lives in the group's folder, for those who may only read it as well.
  @Test func aCopyOfAGroupsDomainIsTheGroups() throws {
    let group = "group.org.example.other"
    let policy = DocumentationTests.replace("org.example.Fonts", with: group, in: RunSandbox.policy)
    let sandbox = try RunSandbox(policy: policy)
    try sandbox.write("outside\n", to: sandbox.configuration + "/\(group).plist")
    #expect(sandbox.run(["cat", Self.read + "/\(group).plist"]).output == "outside\n")
    try sandbox.write("group\n", to: sandbox.group(group) + "/\(group).plist")
    #expect(sandbox.run(["cat", Self.read + "/\(group).plist"]).output == "group\n")
    #expect(sandbox.shell("echo x > \(Self.read)/\(group).plist").exitCode == 2)
  }

  /// The owner of a domain that is read by another puts links where its files are, at rest and in a race.
  @Test(arguments: [
    "ln -s ~/.config/org.example.Viewer.plist CONFIG/org.example.Viewer.plist", "ln -s ~/.config CONFIG",
  ])
  func aPlantedLinkIsNotCopied(_ plant: String) throws {
    let sandbox = try RunSandbox()
    try sandbox.write("MARKER\n", to: sandbox.configuration + "/org.example.Viewer.plist")
    let its = sandbox.containerHome("org.example.Viewer") + "/.config"
    let result = sandbox.outside(
      """
      mkdir -p '\(its)'; case '\(plant)' in *" CONFIG") rmdir '\(its)';; esac
      \(DocumentationTests.replace("CONFIG", with: "'\(its)'", in: plant))
      $RUN -- sh -c 'ls -A \(Self.read); cat \(Self.read)/org.example.Viewer.plist'
      """)
    #expect(result.output == "")
    #expect(!result.errors.contains("MARKER"))
  }

  @Test func aLinkThatComesAndGoesIsNotCopied() throws {
    let sandbox = try RunSandbox()
    try sandbox.write("MARKER\n", to: sandbox.configuration + "/org.example.Viewer.plist")
    let its = sandbox.containerHome("org.example.Viewer")
    let result = sandbox.outside(
      """
      mkdir -p '\(its)/real'; cd '\(its)'; echo mine > real/org.example.Viewer.plist
      ( while :; do ln -sfn real .config; ln -sfn ~/.config .config; rm .config; mv real .config; mv .config real; done ) 2>/dev/null &
      changes=$!
      for i in 1 2 3 4 5 6 7 8; do
        $RUN -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do cat \(Self.read)/* 2>/dev/null; sleep 0.01; done'
      done
      kill $changes
      """)
    #expect(!result.output.contains("MARKER"))
    #expect(result.errors == "")
  }

  @Test func filesOfThePolicyAndOfTheCommandLine() throws {
    let sandbox = try RunSandbox()
    try sandbox.write("letter\n", to: sandbox.home + "/Documents/letter")
    try sandbox.write("deep\n", to: sandbox.home + "/Projects/one/two/file")
    try sandbox.write("beside\n", to: sandbox.home + "/Projects/one/beside")
    try sandbox.write("work\n", to: sandbox.work + "/folder/file")
    let result = sandbox.shell(
      """
      cat ~/Documents/letter ~/Projects/one/two/file \(sandbox.work)/folder/file; ls ~/Projects/one \(sandbox.work)
      for file in ~/Documents/letter ~/Projects/one/two/file \(sandbox.work)/folder/file; do echo more >> $file; done
      """,
      flags: ["--files", "~/Projects/one/two/file", "--files", sandbox.work + "/folder"])
    #expect(result.errors == "")
    #expect(
      result.output == "letter\ndeep\nwork\n\(sandbox.home)/Projects/one:\ntwo\n\n\(sandbox.work):\nfolder\n")
    #expect(try sandbox.sandbox.read(sandbox.home + "/Documents/letter") == "letter\nmore\n")
    #expect(try sandbox.sandbox.read(sandbox.home + "/Projects/one/two/file") == "deep\nmore\n")
    #expect(try sandbox.sandbox.read(sandbox.work + "/folder/file") == "work\nmore\n")
  }

  /// A program that ran before, and one that runs meanwhile, put links where the next run will lay what is shared.
  @Test func aPlantedLinkLeadsNoMountAstray() throws {
    let sandbox = try RunSandbox()
    let plant = "rm -rf ~/Projects; ln -s /oldroot\(sandbox.configuration) ~/Projects"
    #expect(sandbox.shell(plant).exitCode == 0)
    try sandbox.write("file\n", to: sandbox.home + "/Projects/file")
    let before = try sandbox.snapshot(without: sandbox.ownPlaces)
    let result = sandbox.run(["true"], flags: ["--files", "~/Projects/file"])
    #expect(result.exitCode == 69)
    #expect(
      sandbox.sandbox.plain(result.errors)
        == "policyctl: cannot open the place of SANDBOX/home/Projects/file in the container (Projects/file): "
        + "Too many levels of symbolic links\n")
    #expect(try sandbox.snapshot(without: sandbox.ownPlaces) == before)
    let race = sandbox.outside(
      """
      $RUN -- sh -c '
        while ! test -e ~/stop; do
          rm -rf ~/Projects; ln -s /oldroot\(sandbox.configuration) ~/Projects; rm -f ~/Projects; mkdir ~/Projects
        done' 2>/dev/null &
      for i in 1 2 3 4 5 6 7 8 9 10 11 12; do $RUN --files ~/Projects/file -- true 2>/dev/null; done
      touch '\(sandbox.containerHome())/stop'; wait
      """)
    #expect(race.exitCode == 0, "\(race.errors)")
    #expect(try sandbox.snapshot(without: sandbox.ownPlaces) == before)
  }
}
