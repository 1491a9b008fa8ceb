import CManagedPreferences
import Glibc
import LinuxFiles

/// Why a call of the C interface ends with a status other than `MP_OK`.
struct Failure: Error {
  let status: mp_status
  let message: String

  init(_ status: mp_status, _ message: String) {
    self.status = status
    self.message = message
  }

  static func null(_ parameter: StaticString) -> Failure { Failure(MP_ERROR_NULL, "'\(parameter)' is NULL") }
}

/// The words of the last failure of each thread. What comes from outside is escaped: programs print them.
///
/// A pthread key rather than a dictionary of threads: the text goes with its thread.
enum LastFailure {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { free($0) }
    return key
  }()

  static func note(_ message: String) {
    let old = pthread_getspecific(key)
    pthread_setspecific(key, strdup(TerminalText.escape(message)))
    free(old)
  }

  static var message: UnsafePointer<CChar> {
    guard let text = pthread_getspecific(key) else { return ConstantText.pointer("") }
    return UnsafePointer(text.assumingMemoryBound(to: CChar.self))
  }
}

/// Runs what a function of the C interface does, and turns its failure into a status.
func attempt(_ function: StaticString = #function, _ body: () throws(Failure) -> Void) -> mp_status {
  do throws(Failure) {
    try body()
    return MP_OK
  } catch {
    // `mp_set_bool(_:_:_:)` as Swift has it, without what C does not know.
    let name = "\(function)".prefix { $0 != "(" }
    LastFailure.note("\(name): \(error.message)")
    return error.status
  }
}

/// The same for a function with one result, which holds `otherwise` after a failure.
func answer<Answer>(
  _ result: UnsafeMutablePointer<Answer>?, otherwise: Answer, _ name: StaticString, function: StaticString = #function,
  _ body: () throws(Failure) -> Answer
) -> mp_status {
  result?.pointee = otherwise
  return attempt(function) { () throws(Failure) in
    guard let result else { throw .null(name) }
    result.pointee = try body()
  }
}
