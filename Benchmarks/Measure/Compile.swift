import ForcedDomain
import Glibc
import LinuxFiles
import PolicyCompiler
import PolicyLanguage

/// From a folder of YAML to the payload's bytes in memory, as `policyctl compile` does it.
func measureCompile(_ folder: String, label: String) throws {
  let repetitions = 3
  var values: [Double] = []
  for _ in 0..<repetitions {
    let start = Timing.nanoseconds()
    let tree = try PolicyTreeLoader.load(directory: folder)
    let compilation = PolicyCompiler.compile(tree)
    guard let payload = compilation.payload else { fatalError("\(compilation.diagnostics)") }
    values.append((Timing.nanoseconds() - start) / 1e6)
    Timing.sink &+= UInt64(payload.count)
  }
  Timing.report("compile, \(label)", values, "ms")
}
