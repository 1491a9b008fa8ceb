import CommandSandbox
import LinuxFiles
import Testing

/// What `read`, `read-type`, `domains` and `find` print.
@Suite struct ReadTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let value: [String]
    let output: String
    let type: String
    var testDescription: String { value.joined(separator: " ") }
  }

  static let rows = [
    Row(value: ["-string", "a b"], output: "a b", type: "string"), Row(value: ["1.10"], output: "1.10", type: "string"),
    Row(value: ["-int", "1"], output: "1", type: "integer"),
    Row(value: ["-integer", "-7"], output: "-7", type: "integer"),
    Row(value: ["-int", "18446744073709551615"], output: "18446744073709551615", type: "integer"),
    Row(value: ["-int", "-9223372036854775808"], output: "-9223372036854775808", type: "integer"),
    Row(value: ["-float", "2.0"], output: "2", type: "float"), Row(value: ["-float", "2"], output: "2", type: "float"),
    Row(value: ["-float", "1.50"], output: "1.5", type: "float"),
    Row(value: ["-float", "-inf"], output: "-inf", type: "float"),
    Row(value: ["-float", "nan"], output: "nan", type: "float"),
    Row(value: ["-bool", "yes"], output: "1", type: "boolean"),
    Row(value: ["-boolean", "FALSE"], output: "0", type: "boolean"),
    Row(value: ["-bool", "1"], output: "1", type: "boolean"),
    Row(value: ["-date", "2026-11-30T08:00:00+01:00"], output: "2026-11-30 07:00:00 +0000", type: "date"),
    Row(value: ["-date", "2026-11-30 07:00:00 +0000"], output: "2026-11-30 07:00:00 +0000", type: "date"),
    Row(value: ["-data", "0A0b"], output: "{length = 2, bytes = 0x0a0b}", type: "data"),
    Row(value: ["-data", ""], output: "{length = 0, bytes = 0x}", type: "data"),
    Row(value: ["-array"], output: "(\n)", type: "array"), Row(value: ["-dict"], output: "{\n}", type: "dictionary"),
    Row(value: ["(a, {k = v;})"], output: "(\n    a,\n        {\n        k = v;\n    }\n)", type: "array"),
    Row(value: ["<integer>3</integer>"], output: "3", type: "integer"),
    Row(value: ["<0a0b>"], output: "{length = 2, bytes = 0x0a0b}", type: "data"),
    Row(value: ["\"quoted text\""], output: "quoted text", type: "string"),
    Row(value: ["[1,2]"], output: "[1,2]", type: "string"),
    Row(value: ["-5"], output: "-5", type: "string"), Row(value: ["--", "-string"], output: "-string", type: "string"),
    Row(value: ["-string", "-int"], output: "-int", type: "string"), Row(value: ["-"], output: "-", type: "string"),
  ]

  @Test(arguments: rows) func whatIsWrittenIsRead(_ row: Row) throws {
    let sandbox = try Sandbox()
    expect(sandbox.defaults(["write", "org.lab.t", "k"] + row.value), in: sandbox)
    expect(sandbox.defaults("read", "org.lab.t", "k"), output: row.output + "\n", in: sandbox)
    expect(sandbox.defaults("read-type", "org.lab.t", "k"), output: "Type is \(row.type)\n", in: sandbox)
  }

  @Test func aDomainIsPrintedSortedAndIndented() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "org.lab.t", "{b = 1; \"a b\" = (x, y); c = {d = \"e f\";};}")
    let text = """
      {
          "a b" =     (
              x,
              y
          );
          b = 1;
          c =     {
              d = "e f";
          };
      }

      """
    expect(sandbox.defaults("read", "org.lab.t"), output: text, in: sandbox)
    sandbox.defaults("write", "-g", "shared", "-float", "0.5")
    expect(sandbox.defaults("read", "-g"), output: "{\n    shared = \"0.5\";\n}\n", in: sandbox)
    for name in ["NSGlobalDomain", "-globalDomain", "Apple Global Domain", ".GlobalPreferences"] {
      expect(sandbox.defaults("read", name, "shared"), output: "0.5\n", in: sandbox)
    }
    expect(
      sandbox.defaults("read"),
      output: """
        {
            "Apple Global Domain" =     {
                shared = "0.5";
            };
            "org.lab.t" =     {
                "a b" =         (
                    x,
                    y
                );
                b = 1;
                c =         {
                    d = "e f";
                };
            };
        }

        """, in: sandbox)
    expect(sandbox.defaults("domains"), output: "org.lab.t\n", in: sandbox)
    #expect(try FileMetadata.of(sandbox.configuration + "/.GlobalPreferences.plist").permissions == 0o600)
  }

  @Test func whatIsMissingSaysWhatWasMeant() throws {
    let sandbox = try Sandbox()
    expect(
      sandbox.defaults("read", "org.lab.t", "title"), 1,
      errors: "defaults: The domain/default pair of (org.lab.t, title) does not exist\n"
        + "Next: defaults --root SANDBOX/root domains\n", in: sandbox)
    sandbox.defaults("write", "org.lab.t", "title", "x")
    for verb in ["read", "read-type"] {
      expect(
        sandbox.defaults(verb, "org.lab.t", "titel"), 1,
        errors: "defaults: The domain/default pair of (org.lab.t, titel) does not exist; did you mean 'title'?\n"
          + "Next: defaults --root SANDBOX/root read org.lab.t\n", in: sandbox)
    }
    expect(
      sandbox.defaults("read", "org.lab.u"), 1,
      errors: "defaults: Domain org.lab.u does not exist; did you mean 'org.lab.t'?\n"
        + "Next: defaults --root SANDBOX/root domains\n", in: sandbox)
    // A domain that has lost its last key is none any more, although its file stays.
    sandbox.defaults("delete", "org.lab.t", "title")
    #expect(try FileMetadata.of(sandbox.configuration + "/org.lab.t.plist").isRegularFile)
    expect(
      sandbox.defaults("read", "org.lab.u"), 1,
      errors: "defaults: Domain org.lab.u does not exist\nNext: defaults --root SANDBOX/root domains\n", in: sandbox)
  }

  @Test func whatIsMissingInADomainIsNamedWhereItIs() throws {
    let sandbox = try Sandbox(policy: "recommended: {org.lab.t: {scale: true}}\n")
    sandbox.defaults("write", "-g", "shared", "1")
    for key in ["shared", "scale"] {
      expect(
        sandbox.defaults("read", "org.lab.t", key), 1,
        errors: "defaults: The domain/default pair of (org.lab.t, \(key)) does not exist\n"
          + "Next: defaults --root SANDBOX/root read --layers org.lab.t \(key)\n"
          + "Next: defaults --root SANDBOX/root domains\n", in: sandbox)
      #expect(sandbox.defaults("read", "--layers", "org.lab.t", key).exitCode == 0)
    }
    sandbox.defaults("write", "./copy.plist", "k", "1")
    expect(
      sandbox.defaults("read", "copy.plist"), 1,
      errors: "defaults: Domain copy.plist does not exist\nNext: defaults --root SANDBOX/root read ./copy.plist\n"
        + "Next: defaults --root SANDBOX/root domains\n", in: sandbox)
  }

  @Test func aDesignatorMayStandBehindTheValueOfAFlag() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "-g", "{a = 1; b = 2;}")
    let result = sandbox.defaults("read", "--format", "json", "-g", "a")
    #expect(result.exitCode == 0 && result.output.contains("\"a\"") && !result.output.contains("\"b\""))
  }

  @Test func findLooksAtDomainsKeysAndStrings() throws {
    let sandbox = try Sandbox()
    sandbox.defaults("write", "org.lab.t", "{Alpha = 1; beta = {x = (\"an ALPHA\");}; gamma = 2;}")
    sandbox.defaults("write", "org.alpha", "k", "-int", "1")
    expect(
      sandbox.defaults("find", "alpha"),
      output: """
        Found 1 keys in domain 'org.alpha': {
            k = 1;
        }
        Found 2 keys in domain 'org.lab.t': {
            Alpha = 1;
            beta =     {
                x =         (
                    "an ALPHA"
                );
            };
        }

        """, in: sandbox)
    expect(
      sandbox.defaults("find", "delta"), 1,
      errors: "defaults: No domain, key, nor value containing 'delta'\nNext: defaults --root SANDBOX/root domains\n",
      in: sandbox)
  }

  @Test func jsonTellsTypesAndLayers() throws {
    let sandbox = try Sandbox(policy: "forced: {org.lab.t: {repo: X}}\n")
    sandbox.defaults("write", "org.lab.t", "n", "-float", "2")
    expect(
      sandbox.defaults("read", "org.lab.t", "--format", "json"),
      output: """
        {
          "domain": "org.lab.t",
          "values": {
            "n": {
              "value": 2.0,
              "type": "real",
              "layer": "application",
              "forced": false,
              "forcedBy": []
            },
            "repo": {
              "value": "X",
              "type": "string",
              "layer": "forced",
              "forced": true,
              "forcedBy": [
                {
                  "profile": "org.example.lab.base",
                  "title": "Baseline",
                  "generation": 1
                }
              ]
            }
          }
        }

        """, in: sandbox)
    expect(
      sandbox.defaults("read-type", "org.lab.t", "n", "--format=json"),
      output: "{\n  \"domain\": \"org.lab.t\",\n  \"key\": \"n\",\n  \"type\": \"real\"\n}\n", in: sandbox)
    expect(
      sandbox.defaults("domains", "--format", "json"),
      output: "{\n  \"domains\": [\n    \"org.lab.t\"\n  ]\n}\n", in: sandbox)
    let all = sandbox.defaults("read", "--format", "json")
    #expect(all.exitCode == 0 && all.output.hasPrefix("{\n  \"domains\": [\n    {\n      \"domain\": \"org.lab.t\","))
    let found = sandbox.defaults("find", "repo", "--format", "json")
    #expect(found.exitCode == 0 && found.output.contains("\"repo\"") && !found.output.contains("\"n\""))
  }

  /// A file that can't be used is told of, and the exit status says that something may be missing.
  @Test func aDamagedFileIsNoEmptyDomain() throws {
    let sandbox = try Sandbox()
    try sandbox.write("{ k = ", to: sandbox.configuration + "/org.lab.t.plist")
    let file = sandbox.configuration + "/org.lab.t.plist"
    let result = sandbox.defaults("read", "org.lab.t")
    #expect(result.exitCode == 65 && result.output == "")
    #expect(
      result.errors
        == "defaults: warning: \(file): the file is not a property list: 1:7: the input ends inside a property list\n"
        + "defaults: Domain org.lab.t can't be read\n")
    #expect(sandbox.defaults("read", "org.lab.t", "k").exitCode == 65)
    #expect(sandbox.defaults("export", "org.lab.t", "-").exitCode == 65)
    #expect(sandbox.defaults("read").exitCode == 65)
  }
}
