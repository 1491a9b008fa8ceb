import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// A system-wide installation, in a mount namespace of its own: the machine that runs the tests stays as it is.
@Suite(.enabled(if: MountNamespace.isAvailable)) struct SystemWideTests {
  /// Runs a script where `/etc`, `/var/lib` and `/var/log` are private copies and the sample policy is applied.
  static func run(_ script: String, in sandbox: Sandbox) throws -> Sandbox.Result {
    try Directory.create(sandbox.work + "/system")
    let setUp = """
      set -e
      mount -t tmpfs system system && cp -a /etc system/etc && mount --bind system/etc /etc
      mount -t tmpfs lib /var/lib && mount -t tmpfs log /var/log
      policyctl() { '\(Sandbox.binary)' "$@"; }
      as_user() { setpriv --reuid=12345 --regid=12345 --clear-groups "$@"; }
      policyctl init --host lab-a-03 >/dev/null
      mv /etc/managed-preferences/policies/example.yaml.sample /etc/managed-preferences/policies/example.yaml
      policyctl apply >/dev/null
      set +e

      """
    return sandbox.execute(["unshare", "-m", "sh", "-c", setUp + script])
  }

  /// Cheap ways round: another root in the environment, a file of one's own, a link, a copy, no home, another configuration
  /// folder. All read what is forced, as root and as a user.
  @Test func nothingLeadsAroundWhatIsForced() throws {
    let sandbox = try Sandbox()
    let other = try Sandbox(applied: true)
    try sandbox.write("{ AutoSaveInterval = 1; }", to: sandbox.home + "/.config/org.example.Editor.plist")
    chmod(sandbox.home, 0o755)
    let result = try Self.run(
      """
      ask="get org.example.Editor AutoSaveInterval"
      ln -s '\(Sandbox.binary)' link; cp '\(Sandbox.binary)' org.example.Editor; chmod 755 . org.example.Editor
      for who in "" as_user; do
        $who '\(Sandbox.binary)' $ask
        $who env MANAGED_PREFERENCES_ROOT='\(other.root)' '\(Sandbox.binary)' $ask
        $who env MANAGED_PREFERENCES_ROOT=/nowhere '\(Sandbox.binary)' $ask
        $who env -u HOME '\(Sandbox.binary)' $ask
        $who env XDG_CONFIG_HOME='\(sandbox.home)/.config' '\(Sandbox.binary)' $ask
        $who ./link $ask
        $who ./org.example.Editor $ask
      done
      """, in: sandbox)
    #expect(result.errors == "")
    #expect(result.output == String(repeating: "30\n", count: 14))
  }

  @Test func statusTellsWhichPathsWereReadAndSkipped() throws {
    let result = try Self.run("MANAGED_PREFERENCES_ROOT=/nowhere policyctl status", in: Sandbox())
    #expect(result.output.contains("read        /var/lib/managed-preferences/forced (the system's installation)\n"))
    #expect(result.output.contains("skipped     MANAGED_PREFERENCES_ROOT (a system-wide installation exists)\n"))
  }

  /// A forced file that somebody else could have written is refused, and the last good one stays (F10).
  @Test func aForcedFileThatAnybodyCouldWriteIsNotBelieved() throws {
    let result = try Self.run(
      """
      cd /var/lib/managed-preferences
      chmod 666 forced; policyctl get org.example.Editor AutoSaveInterval; policyctl status | grep -c '^fault '
      chmod 644 forced; chown 12345 forced; policyctl get org.example.Editor AutoSaveInterval
      policyctl status | grep -c '^fault '
      """, in: Sandbox())
    #expect(result.output == "30\n1\n30\n1\n")
  }

  /// systemd would run what users can replace, or not find it: the command has to be in a folder of the system.
  @Test func theTimerIsForACommandOfTheSystem() throws {
    let sandbox = try Sandbox()
    let result = try Self.run(
      """
      cp '\(Sandbox.binary)' copy; "$PWD/copy" refresh --install-timer; echo $?
      cp '\(Sandbox.binary)' /etc/policyctl; chown 12345 /etc/policyctl; /etc/policyctl refresh --install-timer; echo $?
      chown 0 /etc/policyctl; /etc/policyctl refresh --install-timer; /etc/policyctl refresh --install-timer
      cat /etc/systemd/system/managed-preferences-refresh.service
      """, in: sandbox)
    let folder = "/etc/systemd/system/managed-preferences-refresh"
    let next = "Next: sudo systemctl enable --now managed-preferences-refresh.timer\n"
    let unit = try sandbox.read(
      DocumentationTests.packageRoot + "/Documentation/systemd/managed-preferences-refresh.service")
    #expect(
      result.output == "69\n69\nCreated \(folder).service.\nCreated \(folder).timer.\n\(next)"
        + "Unchanged: \(folder).service\nUnchanged: \(folder).timer\n\(next)"
        + DocumentationTests.replace("/usr/bin/policyctl", with: "/etc/policyctl", in: unit))
    #expect(
      sandbox.plain(result.errors) == """
        policyctl: SANDBOX/work/copy is below /tmp, where a service does not look; the timer needs it in a folder of the system
        Next: sudo install SANDBOX/work/copy /usr/bin/policyctl
        Next: sudo /usr/bin/policyctl refresh --install-timer
        policyctl: /etc/policyctl could be replaced by others than root; the timer needs it in a folder of the system
        Next: sudo install /etc/policyctl /usr/bin/policyctl
        Next: sudo /usr/bin/policyctl refresh --install-timer

        """)
  }

  @Test func aUserCannotApply() throws {
    let result = try Self.run("as_user '\(Sandbox.binary)' apply; echo $?", in: Sandbox())
    #expect(result.output == "77\n")
    #expect(result.errors == "policyctl: apply changes this host and needs root\nNext: sudo policyctl apply\n")
  }
}

/// Whether this process may make a mount namespace.
enum MountNamespace {
  static let isAvailable: Bool = {
    guard let sandbox = try? Sandbox() else { return false }
    let isAvailable = sandbox.execute(["unshare", "-m", "mount", "-t", "tmpfs", "t", sandbox.work]).exitCode == 0
    if !isAvailable { print("SKIPPED: no mount namespace can be made, so a system-wide installation can't be tested") }
    return isAvailable
  }()
}
