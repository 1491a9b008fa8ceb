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
  /// The payload, and the path that it came from.
  static func read(
    _ call: Invocation, _ circumstances: Circumstances
  ) throws(CommandFailure) -> (payload: ForcedDomain, path: String) {
    if let path = circumstances.bundle { return (try decode(BundleFile.read(path).payload, path: path), path) }
    let folder = try PolicyFolder.read(call, directory: circumstances.policies)
    guard let payload = folder.compilation.payload else {
      folder.printDiagnostics()
      throw folder.refusal(call)
    }
    return (try decode(payload, path: folder.path), folder.path)
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
