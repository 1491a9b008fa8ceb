import CommandSandbox
import LinuxFiles
import Testing

/// Keys: made, trusted, used, and refused where they are not trusted.
@Suite struct KeyTests {
  @Test func aTrustedKeySignsAndAnotherIsRefused() throws {
    let sandbox = try Sandbox(applied: true)
    let made = sandbox.run("key", "generate", "-o", "lab.key")
    #expect(made.exitCode == 0, "\(made.errors)")
    #expect(try FileMetadata.of(sandbox.work + "/lab.key").permissions == 0o600)
    #expect(sandbox.run("key", "generate", "-o", "other.key").exitCode == 0)
    #expect(sandbox.run("key", "list").output == "No key is trusted: bundles without a signature are accepted.\n")

    let trusted = sandbox.run("key", "trust", "lab.key.pub", "--name", "lab-2026")
    #expect(trusted.exitCode == 0, "\(trusted.errors)")
    #expect(sandbox.run("key", "list").output.contains("lab-2026"))
    let listed = try JSON(sandbox.run("key", "list", "--format", "json").output)
    #expect(listed["keys"].elements.map { $0["name"].text } == ["lab-2026"])

    #expect(sandbox.run("compile", "-o", "unsigned.bundle").exitCode == 0)
    #expect(sandbox.run("compile", "-o", "wrong.bundle", "--sign", "other.key").exitCode == 0)
    #expect(sandbox.run("compile", "-o", "right.bundle", "--sign", "lab.key").exitCode == 0)
    let before = try sandbox.contentsBesideAudit()
    for bundle in ["unsigned.bundle", "wrong.bundle"] {
      let refused = sandbox.run("install", bundle)
      #expect(refused.exitCode == 77)
      #expect(refused.errors.contains("Next: "), "\(refused.errors)")
    }
    #expect(try sandbox.contentsBesideAudit() == before)
    let installed = sandbox.run("install", "right.bundle")
    #expect(installed.exitCode == 0, "\(installed.errors)")
    #expect(sandbox.run("status").output.contains("signed by lab-2026 (trusted)"))

    // The last key is gone: that does not let everybody in, and is said.
    try Directory.removeFile(sandbox.root + "/etc/managed-preferences/trusted-keys/lab-2026.pub")
    #expect(
      sandbox.run("key", "list").output
        == "No key is trusted any more, and what is in force was signed: no bundle is accepted without --allow-unsigned.\n"
    )
    #expect(sandbox.run("compile", "-o", "later.bundle").exitCode == 0)
    #expect(sandbox.run("install", "later.bundle").exitCode == 77)
    #expect(sandbox.run("install", "later.bundle", "--allow-unsigned").exitCode == 0)
    #expect(sandbox.run("key", "list").output == "No key is trusted: bundles without a signature are accepted.\n")
  }

  @Test func applyNeedsALocalKeyOnceAKeyIsTrusted() throws {
    let sandbox = try Sandbox(applied: true)
    sandbox.run("key", "generate", "-o", "lab.key")
    sandbox.run("key", "trust", "lab.key.pub", "--name", "lab-2026")
    let before = try sandbox.contentsBesideAudit()
    let refused = sandbox.run("apply")
    #expect(refused.exitCode == 77)
    #expect(
      sandbox.plain(refused.errors).contains("Next: policyctl --root SANDBOX/root key generate --local\n"),
      "\(refused.errors)")
    #expect(
      sandbox.plain(refused.errors).hasSuffix(
        "Next: policyctl compile SANDBOX/root/etc/managed-preferences/policies -o NEW.bundle --sign KEY\n"),
      "\(refused.errors)")
    #expect(try sandbox.contentsBesideAudit() == before)
    #expect(sandbox.run("key", "generate", "--local").exitCode == 0)
    let applied = sandbox.run("apply")
    #expect(applied.exitCode == 0, "\(applied.errors)")
  }

  @Test func aPrivateKeyIsNeverOverwritten() throws {
    let sandbox = try Sandbox(applied: true)
    #expect(sandbox.run("key", "generate", "-o", "a.key").exitCode == 0)
    let before = try sandbox.read("a.key")
    let again = sandbox.run("key", "generate", "-o", "a.key")
    #expect(again.exitCode == 73)
    #expect(try sandbox.read("a.key") == before)
  }

  /// The wrong half of a key is told before anything else about the file.
  @Test func theWrongHalfOfAKeyIsNamed() throws {
    let sandbox = try Sandbox(applied: true)
    sandbox.run("key", "generate", "-o", "a.key")
    let signed = sandbox.run("compile", "-o", "x.bundle", "--sign", "a.key.pub")
    #expect(signed.exitCode == 65)
    #expect(
      sandbox.plain(signed.errors) == """
        policyctl: a.key.pub is a public key; the private one signs
        Next: policyctl --root SANDBOX/root compile -o x.bundle --sign a.key

        """)
    let trusted = sandbox.run("key", "trust", "a.key")
    #expect(trusted.exitCode == 65)
    #expect(
      sandbox.plain(trusted.errors) == """
        policyctl: a.key is a private key, which stays where bundles are made; hosts trust the public one
        Next: policyctl --root SANDBOX/root key trust a.key.pub

        """)
    #expect(sandbox.run("key", "list").output.hasPrefix("No key is trusted"))
  }
}
