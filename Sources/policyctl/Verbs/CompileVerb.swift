import CommandLineKit
import LinuxFiles
import PolicyCompiler

/// `compile [DIR] -o FILE`: one bundle for the whole fleet.
enum CompileVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "compile", summary: "Compile a folder of policies into one bundle for the whole fleet.",
      operands: [Operand("DIR", .directory, optional: true)],
      flags: [
        Flag("--output", short: "-o", value: "FILE", .file, "where the bundle goes"), CommonFlags.sign,
        CommonFlags.serial,
      ],
      notes: [
        "The bundle holds reasons and owners: only its maker can read it.",
        "SOURCE_DATE_EPOCH sets the time that the serial number is made of.",
      ],
      example: "policyctl compile policies -o lab.bundle")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    guard let output = call.arguments.value("--output") else {
      throw call.usage(.neededFlag(verb: "compile", flag: "-o", placeholder: "FILE"))
    }
    let (bundle, summary) = try compiled(call)
    let envelope = bundle.envelope
    let outcome = try OutputFile.write(envelope, followedBy: bundle.payload, to: output, mode: 0o600)
    var text = summary + "\n"
    text +=
      "Compiled bundle \(bundle.serial) into \(TerminalText.escape(output)): \(envelope.count + bundle.payload.count) bytes, "
    text += bundle.signature.map { "signed by key \($0.signer.short).\n" } ?? "not signed.\n"
    // A pipe may be standard output: nothing may stand between the bundle's bytes.
    switch outcome {
    case .file: try Output.printDone(text)
    case .stream: StandardStreams.writeError(text)
    }
    return .done
  }

  /// The bundle and what was checked. The tree is gone when this returns: a large one takes as much room as its bundle.
  private static func compiled(_ call: Invocation) throws(CommandFailure) -> (bundle: Bundle, summary: String) {
    let folder = try PolicyFolder.read(call, directory: call.arguments.operand(0))
    folder.printDiagnostics()
    if folder.hasErrors { throw folder.refusal(call) }
    if folder.isEmpty {
      Policyctl.warn(
        "\(folder.path) forces, recommends and contains nothing: a host that installs this bundle has every key free")
    }
    return (try sign(folder.bundle(serial: call.arguments.number("--serial")), call), folder.summary)
  }

  private static func sign(_ bundle: Bundle, _ call: Invocation) throws(CommandFailure) -> Bundle {
    guard let path = call.arguments.value("--sign") else { return bundle }
    if KeyFileKind(of: path) == .publicKey {
      let secret = path.hasSuffix(".pub") ? String(path.dropLast(4)) : "KEY"
      throw CommandFailure(
        .badInput, "\(TerminalText.escape(path)) is a public key; the private one signs",
        next: call.again(replacing: path, with: secret))
    }
    do throws(InstallError) { return bundle.signed(with: try KeyFiles.signingKey(at: path)) } catch {
      throw CommandFailure(error)
    }
  }
}
