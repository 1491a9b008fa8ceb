public import LinuxFiles

/// Reads a policy tree: every `*.yaml` and `*.yml` below a folder, whole or not at all.
public enum PolicyTreeLoader {
  /// Reads, decodes and validates the tree below a folder.
  ///
  /// Files are found as a shell's `*` finds them: names that begin with a dot are passed over. Symbolic links are
  /// followed, a folder that contains itself is entered once. A file that can't be read is a diagnostic, so that all
  /// mistakes come in one report.
  ///
  /// - Parameters:
  ///   - directory: the folder.
  ///   - displayedAs: what diagnostics call the folder; as it is given, if nil.
  ///   - now: Unix seconds against which overrides and exemptions expire.
  /// - Throws: a ``FileError`` where a folder itself can't be listed.
  /// - Complexity: O(bytes), over the machine's processors.
  public static func load(
    directory: String, displayedAs: String? = nil, now: Int64 = WallClock.unixSeconds()
  ) throws(FileError) -> PolicyTree {
    let shown = displayedAs ?? directory
    var files: [String] = []
    try find(in: directory, below: "", entered: [], into: &files)
    files.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let found = files
    return read(count: found.count, directory: shown, now: now) { index in
      let path = FilePath.join(shown, found[index])
      do throws(FileError) {
        let file = try WholeFile.read(FilePath.join(directory, found[index]), limit: YAMLStream.Limits.fileBytes)
        return .text(YAMLStream(bytes: file.bytes, path: path, relativePath: found[index]))
      } catch {
        return .done(unreadable(error, path: path, relativePath: found[index]))
      }
    }
  }

  /// The same for sources that are already in memory, with relative paths.
  public static func load(
    sources: [(path: String, bytes: [UInt8])], now: Int64 = WallClock.unixSeconds()
  ) -> PolicyTree {
    let sorted = sources.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    return read(count: sorted.count, directory: ".", now: now) { index in
      let source = sorted[index]
      return .text(YAMLStream(bytes: source.bytes, path: source.path, relativePath: source.path))
    }
  }

  // MARK: Reading

  /// A file on its way.
  private enum FileState: Sendable {
    case text(YAMLStream)
    case done(FileResult)
  }

  /// Reads and decodes all files, in parallel.
  ///
  /// A file without aliases is decoded as soon as it is read. Those with aliases wait until it is known what all of them
  /// stand for together: decoding makes values of what is a few bytes in the source.
  private static func read(
    count: Int, directory: String, now: Int64, _ open: @escaping @Sendable (Int) -> FileState
  ) -> PolicyTree {
    let files = ParallelWork.Slots<FileState>(count: count)
    ParallelWork.forEach(count: count) { index in
      let file = open(index)
      if case .text(let stream) = file, stream.aliased.nodes == 0 && stream.aliased.bytes == 0 {
        files[index] = .done(decode(stream, index: index))
      } else {
        files[index] = file
      }
    }
    var aliased = AliasExpansion()
    var waiting: [Int] = []
    var isExcessive = false
    for index in 0..<count {
      guard case .text(let stream)? = files[index] else { continue }
      waiting.append(index)
      aliased += stream.aliased
      // A file that passes the limit by itself has said so, with the line.
      guard let excess = aliased.excess, !isExcessive else { continue }
      isExcessive = true
      if stream.aliased.excess != nil { continue }
      var result = FileResult(stream)
      result.sink.report(
        .aliasExpansion, at: .start, "with this file, the aliases of the tree stand for more than \(excess)")
      files[index] = .done(result)
    }
    if isExcessive {
      // What is not decoded can't be validated: only what the files said by themselves is reported.
      for index in waiting {
        guard case .text(let stream)? = files[index] else { continue }
        files[index] = .done(FileResult(stream))
      }
    } else {
      let indices = waiting
      ParallelWork.forEach(count: indices.count) { place in
        let index = indices[place]
        if case .text(let stream)? = files[index] { files[index] = .done(decode(stream, index: index)) }
      }
    }
    var results: [FileResult] = []
    results.reserveCapacity(count)
    for index in 0..<count {
      if case .done(let result)? = files[index] { results.append(result) }
      files[index] = nil  // What is validated must be the only copy.
    }
    return assemble(results, directory: directory, now: now, isWhole: !isExcessive)
  }

  // MARK: Finding files

  private struct Identity: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  private static func find(
    in directory: String, below prefix: String, entered: [Identity], into files: inout [String]
  ) throws(FileError) {
    let metadata = try FileMetadata.of(directory)
    let identity = Identity(device: metadata.device, inode: metadata.inode)
    if entered.contains(identity) { return }
    for name in try Directory.names(in: directory) where !name.hasPrefix(".") {
      let path = FilePath.join(directory, name)
      let relative = prefix.isEmpty ? name : FilePath.join(prefix, name)
      let lowered = name.lowercased()
      if lowered.hasSuffix(".yaml") || lowered.hasSuffix(".yml") {
        // What it is decides below; a link that leads nowhere is reported by reading it.
        guard let metadata = try? FileMetadata.of(path), metadata.isDirectory else {
          files.append(relative)
          continue
        }
      } else {
        guard let metadata = try? FileMetadata.of(path), metadata.isDirectory else { continue }
      }
      try find(in: path, below: relative, entered: entered + [identity], into: &files)
    }
  }

  // MARK: One file

  /// What one file holds.
  struct FileResult: Sendable {
    var text: SourceText
    var profiles: [Profile] = []
    var inventories: [Inventory] = []
    var manifests: [Manifest] = []
    var tests: [PolicyTestCase] = []
    var documents: Concealment.Documents
    var sink: DiagnosticSink

    /// Nothing of a file that can't be read.
    init(text: SourceText, sink: DiagnosticSink) {
      self.text = text
      self.sink = sink
      documents = Concealment.Documents(text: text, trees: [], isComplete: false)
    }

    init(_ stream: YAMLStream) {
      text = stream.text
      sink = DiagnosticSink(path: stream.text.path, diagnostics: stream.diagnostics)
      documents = Concealment.Documents(text: stream.text, trees: stream.documents, isComplete: stream.isComplete)
    }
  }

  private static func unreadable(_ error: FileError, path: String, relativePath: String) -> FileResult {
    let text = SourceText(path: path, relativePath: relativePath, normal: .init(bytes: [], isASCII: true))
    var sink = DiagnosticSink(path: path)
    if error.errno == .fileTooLarge {
      sink.report(.fileTooLarge, at: .start, "the file has more than \(YAMLStream.Limits.fileBytes) bytes")
    } else {
      sink.report(.unreadableFile, at: .start, "the file can't be read: \(error.reason)")
    }
    return FileResult(text: text, sink: sink)
  }

  private static func decode(_ stream: YAMLStream, index: Int) -> FileResult {
    var result = FileResult(stream)
    if let first = stream.documents.first {
      var decoder = DocumentDecoder(source: index, tree: first, sink: result.sink)
      for document in stream.documents { decoder.decode(document) }
      result.profiles = decoder.profiles
      result.inventories = decoder.inventories
      result.manifests = decoder.manifests
      result.tests = decoder.tests
      result.sink = decoder.sink
    } else if stream.isComplete {
      result.sink.report(.emptyDocument, at: .start, "the file holds no document")
    }
    return result
  }

  // MARK: The tree

  private static func assemble(
    _ files: [FileResult], directory: String, now: Int64, isWhole: Bool
  ) -> PolicyTree {
    var validation = TreeValidation(
      tree: PolicyTree(
        sources: files.map(\.text), profiles: files.flatMap(\.profiles),
        inventory: files.lazy.compactMap(\.inventories.first).first, manifests: files.flatMap(\.manifests),
        tests: files.flatMap(\.tests), diagnostics: []),
      inventories: files.flatMap(\.inventories), sinks: files.map(\.sink), now: now)
    if isWhole { validation.run() }
    var tree = validation.tree
    var diagnostics = validation.sinks.flatMap(\.diagnostics)
    if files.isEmpty {
      diagnostics.append(
        Diagnostic(.emptyTree, path: directory, at: .start, "the folder holds no *.yaml and no *.yml"))
    }
    tree.documents = files.map(\.documents)
    tree.diagnostics = tree.concealing(diagnostics).sortedForReport()
    return tree
  }
}
