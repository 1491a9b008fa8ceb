import CPostgreSQL
import Glibc

/// A connection that is ready for use, and whose account it is.
final class Session {
  let connection: Connection
  /// The role that logged in, as the server says it.
  let account: String
  /// The channels that are listened to, with the applications whose hints come over them.
  var listening: [String: String] = [:]

  init(connection: consuming Connection, account: String) {
    self.connection = connection
    self.account = account
  }
}

extension Connection {
  /// The version of the schema that this library was written for.
  static let schemaVersion: Int64 = 1

  /// Connects to a service, and gets ready for changes and hints.
  ///
  /// Everything about the connection comes from libpq's own files and variables: `~/.pg_service.conf` and the system's
  /// `pg_service.conf`, `~/.pgpass`, `~/.postgresql/root.crt`. What those leave open is decided here, once:
  ///
  /// 1. TLS. libpq's own default (`prefer`) takes whatever answers, encrypted or not. Where the server is another machine, that
  ///    becomes `verify-full`: only a server whose certificate holds for its name. A mode that was written down is kept.
  /// 2. A server that does not answer is given up after ten seconds, and a connection over which nothing comes back after less than a
  ///    minute.
  /// 3. What is acknowledged is on the server's disk: where a role or database has `synchronous_commit` off, it is switched on.
  ///
  /// - Parameter service: the name of a section in a service file.
  static func open(service: String) throws(ServerFault) -> Session {
    let found = try settings(of: service)
    var chosen = ["service": service, "client_encoding": "UTF8", "fallback_application_name": "ubiquitous-store"]
    if found["sslmode"].map({ $0 == "prefer" || $0 == "allow" }) ?? true, isElsewhere(found) {
      chosen["sslmode"] = "verify-full"
    }
    for (name, value) in [
      ("connect_timeout", "10"), ("tcp_user_timeout", "20000"), ("keepalives_idle", "30"), ("keepalives_interval", "5"),
      ("keepalives_count", "4"),
    ] where found[name, default: ""].isEmpty || found[name] == "0" {
      chosen[name] = value
    }
    guard let handle = withKeywords(chosen, PQconnectdbParams) else { throw .unreachable("out of memory") }
    guard PQstatus(handle) == CONNECTION_OK else {
      defer { PQfinish(handle) }
      throw .unreachable(message(of: handle))
    }
    let connection = try Connection(handle)
    let answers = try connection.carryOut([
      .once("SELECT pg_catalog.set_config('search_path', 'pg_catalog', false)"),
      .once(
        """
        SELECT pg_catalog.set_config('synchronous_commit', 'on', false)
        WHERE pg_catalog.current_setting('synchronous_commit') = 'off'
        """),
      .once("SELECT version, oldest_client FROM ubiquitous_store.schema_version"),
    ])
    let (version, oldest) = answers[2].count == 1 ? (answers[2].integer(0, 0), answers[2].integer(0, 1)) : (0, 0)
    guard version >= schemaVersion else {
      throw .unusable(
        "the database has version \(version) of the store's schema, and this library needs \(schemaVersion); run migrate.sql"
      )
    }
    guard oldest <= schemaVersion else {
      throw .unusable(
        "the database has version \(version) of the store's schema, which only newer libraries can use; update this machine"
      )
    }
    let account = try connection.carryOut(
      Statement.allCases.map { .prepare($0) } + [.once("SELECT ubiquitous_store.open_account()")])
    return Session(connection: connection, account: account[account.count - 1].text(0, 0))
  }

  /// Whether any of the servers that a service names is, or may be, another machine: each that is neither a socket's folder nor a name
  /// or number of loopback. Names and numbers count both: libpq goes to the number, and the certificate holds for the name.
  static func isElsewhere(_ settings: [String: String]) -> Bool {
    (settings["host", default: ""] + "," + settings["hostaddr", default: ""]).split(separator: ",").contains { host in
      !(host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1" || isLoopback(host))
    }
  }

  /// `127.0.0.1` and the like; a name may begin so too.
  private static func isLoopback(_ host: Substring) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// What libpq would connect with, of its files, its variables and its defaults.
  ///
  /// libpq has no function for it. An attempt with a value that it refuses ends before anything is sent, and then it tells the rest.
  private static func settings(of service: String) throws(ServerFault) -> [String: String] {
    let refused = "only asking"
    guard let handle = withKeywords(["service": service, "channel_binding": refused], PQconnectStartParams) else {
      throw .unreachable("out of memory")
    }
    defer { PQfinish(handle) }
    var found: [String: String] = [:]
    if let options = PQconninfo(handle) {
      defer { PQconninfoFree(options) }
      var option = options
      while let keyword = option.pointee.keyword {
        if let value = option.pointee.val { found[String(cString: keyword)] = String(cString: value) }
        option += 1
      }
    }
    guard found["channel_binding"] == refused else { throw .refused(message(of: handle)) }
    return found
  }

  private static func withKeywords(
    _ settings: [String: String],
    _ connect: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?, Int32) -> OpaquePointer?
  ) -> OpaquePointer? {
    let pairs = settings.sorted { $0.key < $1.key }
    let keywords = pairs.map { strdup($0.key) } + [nil]
    let values = pairs.map { strdup($0.value) } + [nil]
    defer { for pointer in keywords + values { free(pointer) } }
    return keywords.map { UnsafePointer($0) }.withUnsafeBufferPointer { keywords in
      values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
        connect(keywords.baseAddress, values.baseAddress, 0)
      }
    }
  }
}
