import UbiquitousStore

/// Why the server did not do what was asked, by what a device does next.
enum ServerFault: Error, Hashable, Sendable {
  /// No connection, or it broke: whether the change was made is not known. Connect again later and send it again.
  case unreachable(String)
  /// The server gave up one of two transactions that were in each other's way, or was asked to stop: send it again.
  case interrupted(String)
  /// The stamp of a change is too far ahead of the server's clock.
  case clockTooFarAhead(String)
  /// The store is full.
  case noRoom(String)
  /// The role may not do this, or the schema is not there: an administrator has to act.
  case refused(String)
  /// The change is one that the server never takes.
  case invalid(String)
  /// The schema is not there, too old for this library or too new, or holds what no library wrote.
  case unusable(String)

  var isUnreachable: Bool { if case .unreachable = self { true } else { false } }

  /// The fault for what the server answered.
  ///
  /// The first two characters of the code are its class: 08 connection, 40 transaction given up, 42 syntax and access, 53 out of
  /// something, 55 object in use, 57 operator, 58 the machine, 22 and 23 data. What is not known by its class is refused: it is told to
  /// the administrator, and not sent again at once.
  ///
  /// - Parameters:
  ///   - code: the five characters of SQLSTATE.
  ///   - message: the server's words.
  init(code: String, message: String) {
    let text = "\(message) (SQLSTATE \(code))"
    switch code {
    case "US001": self = .clockTooFarAhead(text)
    case "US002": self = .noRoom(text)
    case "3F000", "42P01", "42883", "42703":
      self = .unusable("the database has no schema of the store, or another than this library's: \(text)")
    default:
      switch code.prefix(2) {
      case "08", "57", "58": self = .unreachable(text)
      case "25", "40", "53", "55": self = .interrupted(text)
      case "22", "23": self = .invalid(text)
      default: self = .refused(text)
      }
    }
  }
}

extension BackEndError {
  /// - Parameter service: the name of the service, for the text.
  init(_ fault: ServerFault, service: String) {
    let place = "the synced store's server (PostgreSQL service \(service))"
    self =
      switch fault {
      case .unreachable(let text): .unreachable("\(place) can't be reached: \(text)")
      case .interrupted(let text): .unreachable("\(place) gave up a transaction: \(text)")
      // Changes that are known to be ahead are not sent; this one came to be while the server's clock was set.
      case .clockTooFarAhead(let text): .unreachable("\(place) changed its clock: \(text)")
      case .noRoom(let text): .noRoom("\(place) keeps no more: \(text)")
      case .refused(let text): .notPermitted("\(place) refuses: \(text)")
      case .invalid(let text): .refused("\(place) takes no such record: \(text)")
      case .unusable(let text): .unusable("\(place): \(text)")
      }
  }
}
