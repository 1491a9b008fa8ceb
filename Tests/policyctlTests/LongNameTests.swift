import CommandSandbox
import LinuxFiles
import Testing

/// The policy language and whoever reads have one limit for domains' names.
@Suite struct LongNameTests {
  private func policy(_ domain: String) -> String {
    "version: 1\nkind: Profile\nid: org.example.a\ntitle: A\nforced: {\(domain): {k: 1}}\n"
  }

  @Test func theLongestNameIsForcedAndRead() throws {
    let sandbox = try Sandbox()
    let name = String(repeating: "x", count: 216)
    try sandbox.write(policy(name), to: "policies/a.yaml")
    sandbox.run("init", "--host", "lab-a-03")
    #expect(sandbox.run("apply", "policies").exitCode == 0)
    let got = sandbox.run("get", name, "k")
    #expect(got.exitCode == 0 && got.output == "1\n", "\(got.errors)")
  }

  @Test func aLongerNameIsNoDomainAnywhere() throws {
    let sandbox = try Sandbox()
    let name = String(repeating: "x", count: 217)
    try sandbox.write(policy(name), to: "policies/a.yaml")
    let checked = sandbox.run("check", "policies")
    #expect(checked.exitCode == 65)
    #expect(checked.errors.contains("is longer than 216 bytes [invalid-domain]"))
    let got = sandbox.run("get", name, "k")
    #expect(got.exitCode == 64)
    #expect(
      got.errors.contains("is no domain: a domain's name can't be longer than 216 bytes; this one has 217"),
      "\(got.errors)")
  }
}
