import Glibc
import LinuxFiles

/// A folder that goes with its owner.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/linux-files-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
  }

  deinit { try? Directory.removeTree(path) }

  func callAsFunction(_ name: String) -> String { FilePath.join(path, name) }
}

func text(_ path: String) throws -> String { String(decoding: try WholeFile.read(path).bytes, as: UTF8.self) }
