import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Preference files for any user, in what the commands print.
@Suite struct AnyUserTests {
  private static func sandbox() throws -> (Sandbox, String) {
    let sandbox = try Sandbox(applied: true)
    let file = sandbox.root + "/etc/managed-preferences/defaults/org.example.Editor.plist"
    try sandbox.write("{ PanelTheme = dark; }", to: file)
    return (sandbox, file)
  }

  @Test func explainNamesTheLayerAndItsFile() throws {
    let (sandbox, _) = try Self.sandbox()
    let result = sandbox.run("explain", "org.example.Editor", "PanelTheme")
    #expect(
      sandbox.plain(result.output) == """
        "dark"  (string)  from the layer any-user

          no policy mentions this key
          other layers: application —, global —, any-user "dark" \
        (SANDBOX/root/etc/managed-preferences/defaults/org.example.Editor.plist), registration —

        """)
    #expect(result.errors == "")
    let json = try JSON(sandbox.run("explain", "org.example.Editor", "PanelTheme", "--format", "json").output)
    let layers = json["layers"].elements.map { $0["layer"].text }
    #expect(
      layers == ["application-host", "application", "global-host", "global"]
        + Array(repeating: "any-user", count: 4) + ["language", "registration"])
  }

  @Test func aFileThatOthersCanWriteIsPassedOverAndNamed() throws {
    let (sandbox, file) = try Self.sandbox()
    chmod(file, 0o666)
    let path = "SANDBOX/root/etc/managed-preferences/defaults/org.example.Editor.plist"
    let get = sandbox.run("get", "org.example.Editor", "PanelTheme")
    #expect(get.exitCode == 1)
    #expect(
      sandbox.plain(get.errors).hasPrefix(
        "policyctl: warning: \(path): the file can be written by others than root\n"), "\(get.errors)")
    let status = sandbox.run("status")
    #expect(status.exitCode == 1)
    #expect(sandbox.plain(status.output).contains("\(path): the file can be written by others than root"))
    #expect(sandbox.plain(status.output).contains("sudo chown root: \(path) && sudo chmod go-w \(path)"))
    chmod(file, 0o644)
    #expect(sandbox.run("get", "org.example.Editor", "PanelTheme").output == "dark\n")
    #expect(sandbox.run("status").exitCode == 0)
  }

  @Test func theLanguageDomainsAreAskedForByKeyAlone() throws {
    let (sandbox, _) = try Self.sandbox()
    #expect(sandbox.run("get", "org.example.Editor", "NSCurrencySymbol").output == "$\n")
    #expect(!sandbox.run("get", "org.example.Editor").output.contains("NSCurrencySymbol"))
  }
}
