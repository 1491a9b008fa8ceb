import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// `key generate`: a key that signs bundles, or with `--local` one that binds this host alone.
enum KeyGenerateVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "key", "generate", summary: "Make an Ed25519 key that signs bundles.",
      flags: [
        Flag(
          "--output", short: "-o", value: "FILE", .file,
          "where the private key goes; FILE.pub is the public one"),
        Flag("--local", "make and trust this host's own key: apply signs with it"),
      ],
      notes: ["Keep the private key where bundles are made, not on the hosts that install them."],
      example: "policyctl key generate -o lab-2026.key")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let output = call.arguments.value("--output")
    if call.arguments.has("--local") {
      if output != nil { throw call.usage(.excludedFlags(verb: "key generate", "--local", "-o")) }
      try Permission.requireRoot(call)
      let site = HostSite(call.installation())
      let made = try site.makeLocalKey(call)
      try Output.printDone(
        "Made this host's own key \(made.fingerprint.short) and trusted it as \(KeyFiles.localName).\n")
      return .done
    }
    guard let output else {
      throw call.usage(.neededFlag(verb: "key generate", flag: "-o", placeholder: "FILE"))
    }
    for file in [output, output + ".pub"] { try OutputFile.requireReplaceable(file) }
    let made: VerificationKey
    do throws(InstallError) { made = try KeyFiles.generate(at: output) } catch { throw CommandFailure(error) }
    let shown = TerminalText.escape(output)
    try Output.printDone(
      """
      Made key \(made.fingerprint.short): \(shown) is secret, \(shown).pub is for the hosts.
      Next: \(call.command(privileged: true, "key", "trust", output + ".pub"))

      """)
    return .done
  }
}

/// Which half of a key a file holds, as far as its first line tells.
enum KeyFileKind {
  case privateKey
  case publicKey
  /// No key, or no file that can be read: whoever uses it will say so.
  case unknown

  init(of path: String) {
    let bytes = (try? WholeFile.read(path, limit: 4096).bytes) ?? []
    let text = String(decoding: bytes, as: UTF8.self)
    self =
      text.contains(bytesOf: "-----BEGIN PUBLIC KEY-----")
      ? .publicKey : text.contains(bytesOf: " PRIVATE KEY-----") ? .privateKey : .unknown
  }
}

/// `key trust FILE`: bundles signed by that key are accepted here.
enum KeyTrustVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "key", "trust", summary: "Accept bundles that a key has signed; from the first one on, no others.",
      operands: [Operand("FILE", .file)],
      flags: [Flag("--name", value: "NAME", .text, "what the key is called here (default: FILE's name)")],
      notes: [
        "To stop trusting a key, trust its successor first, then remove the key's file from",
        "/etc/managed-preferences/trusted-keys.",
      ],
      example: "sudo policyctl key trust lab-2026.key.pub")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    try Permission.requireRoot(call)
    let path = call.arguments.operands[0]
    let site = HostSite(call.installation())
    if KeyFileKind(of: path) == .privateKey {
      let failure = CommandFailure(
        .badInput,
        "\(TerminalText.escape(path)) is a private key, which stays where bundles are made; hosts trust the public one",
        next: call.again(replacing: path, with: path + ".pub"))
      throw site.refusing(failure, because: "private-key", of: path, call)
    }
    let trusted = try site.trust(path, as: call.arguments.value("--name"), call)
    try Output.printDone(
      "Trusted key \(TerminalText.escape(trusted.name)) \(trusted.key.fingerprint.short): only bundles signed by a trusted key are "
        + "accepted now.\n")
    return .done
  }
}

/// `key list`: whom this host trusts.
enum KeyListVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "key", "list", summary: "List the keys whose signatures this host accepts.", flags: [CommonFlags.format],
      example: "policyctl key list")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let keys = try HostSite(call.installation()).trustedKeys()
    if call.wantsJSON {
      var json = JSONWriter(pretty: true)
      json.beginObject()
      json.key("keys")
      json.beginArray()
      for key in keys {
        json.beginObject()
        json.key("name")
        json.string(key.name)
        json.key("fingerprint")
        json.string(key.key.fingerprint.description)
        json.key("local")
        json.boolean(key.name == KeyFiles.localName)
        json.endObject()
      }
      json.endArray()
      json.endObject()
      try Output.print(json)
      return .done
    }
    if keys.isEmpty {
      try Output.print(
        HostSite(call.installation()).asksForLostKey
          ? "No key is trusted any more, and what is in force was signed: no bundle is accepted without --allow-unsigned.\n"
          : "No key is trusted: bundles without a signature are accepted.\n")
      return .done
    }
    var table = TextTable([.left, .left, .left])
    for key in keys {
      table.add([
        TextTable.Cell(TerminalText.escape(key.name), .strong), TextTable.Cell(key.key.fingerprint.short),
        TextTable.Cell(key.name == KeyFiles.localName ? "this host only" : ""),
      ])
    }
    try Output.print(table.text(Terminal.palette(for: .output)))
    return .done
  }
}
