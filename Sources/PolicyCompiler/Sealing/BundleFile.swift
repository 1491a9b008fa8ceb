import LinuxFiles

extension Bundle {
  /// Reads a bundle from a file, whoever owns it: its signature is what counts.
  public init(contentsOf path: String) throws(InstallError) {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try WholeFile.read(path, limit: Self.headerByteCount + Self.maximumPayloadByteCount).bytes
    } catch {
      throw InstallError(reading: error)
    }
    do throws(BundleError) { try self.init(decoding: bytes) } catch { throw InstallError(.bundle(error), path: path) }
  }

  /// Writes a bundle to a file, whole or not at all.
  public func write(to path: String) throws(InstallError) {
    do throws(FileError) { try AtomicReplacement.write(encoded(), to: path, mode: 0o644) } catch {
      throw InstallError(writing: error)
    }
  }
}
