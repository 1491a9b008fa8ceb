import Digests
import PolicyLanguage

/// The stage `seal`: the digest of the sources, which the envelope around the payload states.
///
/// SHA-256 over every source in the order of the relative paths: the path, the length of the text, the text. The text is
/// the normalised one (UTF-8, no byte-order mark, LF), so the same policies have the same digest whatever editor wrote
/// them.
enum SealStage {
  static func run(_ compiler: inout CompilerState) { compiler.sourceDigest = digest(of: compiler.tree.sources) }

  static func digest(of sources: [SourceText]) -> [UInt8] {
    var hash = SHA256()
    for source in sources {
      hash.update(littleEndian: UInt64(source.relativePath.utf8.count))
      hash.update(source.relativePath)
      hash.update(littleEndian: UInt64(source.bytes.count))
      hash.update(source.bytes)
    }
    return hash.finish()
  }
}
