import AuditEvents
import LinuxFiles
import PropertyList

/// One preference file of a user, shared by all search lists of the process that use it.
///
/// `contents`, `version`, `faults`, `users` and `sink` are guarded by the engine's lock; `disk` serializes reading and
/// writing of the file within the process and is taken first where both are.
final class DomainFile: @unchecked Sendable {
  let name: String
  let directory: String
  let path: String
  let disk = EngineLock()

  var contents = DomainContents()
  /// Of the file that `contents.stored` was read from or written to; nil while there is none.
  var version: FileMetadata?
  var isLoaded = false
  /// What is wrong now, by kind; the first of each kind was told to the sink.
  var faults: [PreferencesFault.Kind: PreferencesFault] = [:]
  var users: [ObjectIdentifier: ListState] = [:]
  var sink: any AuditEventSink

  init(name: String, directory: String, sink: any AuditEventSink) {
    self.name = name
    self.directory = directory
    self.sink = sink
    path = UserLocations.file(ofDomain: name, in: directory)
  }

  /// What reading the file gave.
  struct Reading {
    var values: [String: PropertyListValue]
    /// nil: there is no such file.
    var version: FileMetadata?
    var fault: PreferencesFault?
  }

  /// Reads the file. Never waits for another process: writers replace files whole.
  func read() -> Reading {
    do throws(FileError) {
      let (bytes, metadata) = try WholeFile.read(path, limit: DecodingLimits.default.maximumBytes)
      return parse(bytes, metadata)
    } catch {
      if error.errno == .noSuchFile { return Reading(values: [:], version: nil, fault: nil) }
      let fault = PreferencesFault(.unreadable, path: path, message: "\(error)")
      return Reading(values: [:], version: try? FileMetadata.of(path), fault: fault)
    }
  }

  private func parse(_ bytes: [UInt8], _ metadata: FileMetadata) -> Reading {
    do throws(PropertyListError) {
      if case .dictionary(let values) = try PropertyListCoding.decode(bytes) {
        return Reading(values: values, version: metadata, fault: nil)
      }
      let fault = PreferencesFault(.damaged, path: path, message: "the file's property list is not a dictionary")
      return Reading(values: [:], version: metadata, fault: fault)
    } catch {
      let fault = PreferencesFault(.damaged, path: path, message: "the file is not a property list: \(error)")
      return Reading(values: [:], version: metadata, fault: fault)
    }
  }

  /// Whether the file on the disk is another than the one that was read. One system call.
  func isOutdated() -> Bool {
    let now = try? FileMetadata.of(path)
    guard let now, let version else { return (now == nil) != (version == nil) }
    return !now.isSameVersion(as: version)
  }
}
