import LinuxFiles

/// Output that comes in pieces and is not kept in memory: into a file that the user names, by the rules of `OutputFile`.
///
/// An error is kept, and told when all is done; what is added after it goes nowhere.
public final class OutputPieces {
  private enum Target {
    case draft(FileDraft)
    case stream(Stream)
  }

  private final class Stream {
    let file: FileDescriptor
    init(_ file: consuming FileDescriptor) { self.file = file }
  }

  private let path: String
  private let target: Target
  private var waiting: [UInt8] = []
  private var failure: FileError?

  private static let block = 64 << 10

  /// - Parameter mode: of a new file.
  public init(to path: String, mode: UInt32) throws(CommandFailure) {
    self.path = path
    if OutputFile.isStream(path) {
      do throws(FileError) { target = .stream(Stream(try FileDescriptor.open(path, [.writeOnly]))) } catch {
        throw CommandFailure(error, while: .creating)
      }
    } else {
      try OutputFile.requireTaking(path)
      do throws(FileError) { target = .draft(try FileDraft(for: path, mode: mode)) } catch {
        throw CommandFailure(error, while: .creating)
      }
    }
  }

  public func add(_ text: String) { add(Array(text.utf8)) }

  public func add(_ bytes: [UInt8]) {
    waiting += bytes
    if waiting.count >= Self.block { flush() }
  }

  private func flush() {
    defer { waiting.removeAll(keepingCapacity: true) }
    if failure != nil || waiting.isEmpty { return }
    do throws(FileError) {
      switch target {
      case .draft(let draft): try draft.write(waiting)
      case .stream(let stream):
        do throws(Errno) { try stream.file.write(waiting) } catch {
          throw FileError("write", path: path, errno: error)
        }
      }
    } catch {
      failure = error
    }
  }

  /// Brings what was added to its place. Without this, a file keeps its old contents.
  public func finish() throws(CommandFailure) -> OutputFile.Outcome {
    flush()
    do throws(FileError) {
      if let failure { throw failure }
      switch target {
      case .draft(let draft):
        try draft.finish()
        return .file
      case .stream: return .stream
      }
    } catch {
      throw CommandFailure(error, while: .creating)
    }
  }
}
