import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// A bundle as a file.
enum BundleFile {
  static func read(_ path: String) throws(CommandFailure) -> Bundle {
    let make = ShellWord.join([Policyctl.name, "compile"]) + " DIR -o " + ShellWord.quote(path)
    let bytes: [UInt8]
    do throws(FileError) { bytes = try WholeFile.read(path).bytes } catch {
      let next =
        switch error.errno {
        case .isDirectory: "\(Policyctl.name) compile \(ShellWord.quote(path)) -o FILE"
        default: make
        }
      throw CommandFailure(error, while: .reading, next: next)
    }
    do throws(BundleError) { return try Bundle(decoding: bytes) } catch {
      throw CommandFailure(.badInput, "\(path): \(error)", next: make)
    }
  }
}

/// A fleet's policies for a what-if: compiled from a folder, or out of a bundle.
enum Payload {
  /// A payload, and what it came from.
  struct Origin {
    let payload: ForcedDomain
    let path: String
    /// nil for a folder.
    let serial: UInt64?
    let sourceDigest: [UInt8]
  }

  static func read(_ call: Invocation, _ circumstances: Circumstances) throws(CommandFailure) -> Origin {
    if let path = circumstances.bundle {
      let bundle = try BundleFile.read(path)
      return Origin(
        payload: try decode(bundle.payload, path: path), path: path, serial: bundle.serial,
        sourceDigest: bundle.sourceDigest)
    }
    let folder = try PolicyFolder.read(call, directory: circumstances.policies)
    guard let payload = folder.compilation.payload else {
      folder.printDiagnostics()
      throw folder.refusal(call)
    }
    return Origin(
      payload: try decode(payload, path: folder.path), path: folder.path, serial: nil,
      sourceDigest: folder.compilation.sourceDigest)
  }

  static func decode(_ bytes: [UInt8], path: String) throws(CommandFailure) -> ForcedDomain {
    do throws(ForcedDomainError) { return try ForcedDomain(bytes: bytes, expecting: [.fleet]) } catch {
      throw CommandFailure(.badInput, "\(path): \(error)")
    }
  }

  /// What a host would have installed.
  static func narrow(_ payload: ForcedDomain, to host: HostIdentity, path: String) throws(CommandFailure) -> WhatIf {
    let names = NameLedger(accounts: .system, remembering: nil)
    do throws(NarrowingError) {
      return try WhatIf(payload: payload, host: host, now: WallClock.unixSeconds(), users: names)
    } catch {
      throw CommandFailure(.unavailable, "\(path): \(error)")
    }
  }
}
