public import CommandSandbox
import Foundation
import LinuxFiles
import Synchronization
import TestPrograms

/// A PostgreSQL server of a test's own, in a temporary folder (Scripts/postgresql), with the store's schema in the database
/// `store`. It ends with the test run, or earlier by `stop`.
///
/// Services that libpq finds are written as they are needed; the test's whole process has one service file for all servers.
public final class TrialServer: Sendable {
  public let folder: String
  public let port: Int
  private nonisolated(unsafe) let sandbox: Sandbox
  private let lock = Mutex(0)

  /// Whether there is a PostgreSQL here; says SKIPPED where there is none.
  public static let isAvailable: Bool = {
    let sandbox = try? Sandbox(named: "postgresql")
    let result = sandbox?.execute([script, "stop", "/nonexistent"])
    let found = result.map { $0.exitCode != 69 } ?? false
    if !found { print("SKIPPED: no PostgreSQL server here, so the synced store between machines can't be tested") }
    return found
  }()

  public static let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
  static let script = packageRoot + "/Scripts/postgresql"
  public static let migrations = packageRoot + "/Sources/UbiquitousStorePostgreSQL/Migrations"

  /// The server that tests share which neither stop it nor look at all that is in it.
  public static func shared() throws -> TrialServer { try common.get() }
  private static let common = Result { try TrialServer(settings: ["fsync=off", "full_page_writes=off"]) }

  /// - Parameter settings: lines of postgresql.conf, `name=value`.
  public init(settings: [String] = [], migrated: Bool = true) throws {
    sandbox = try Sandbox(named: "postgresql")
    folder = sandbox.path + "/server"
    let started = sandbox.execute([Self.script, "start", folder, "--while", "\(getpid())"] + settings)
    guard let port = Int(started.output.split(whereSeparator: \.isNewline).first ?? "") else {
      throw TrialError("the server does not start: \(started.errors)")
    }
    self.port = port
    if migrated {
      try administer("CREATE DATABASE store ENCODING 'UTF8' TEMPLATE template0", in: "postgres")
      try migrate()
    }
  }

  public struct TrialError: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
  }

  deinit { stop() }

  public func stop() { _ = run([Self.script, "stop", folder]) }

  /// Ends it as a crash does, and starts it again.
  public func restart() throws {
    let result = run([Self.script, "restart", folder])
    if result.exitCode != 0 { throw TrialError("the server does not start again: \(result.errors)") }
  }

  /// Runs a program, one at a time.
  public func run(_ words: [String], environment: [String: String] = [:], input: String? = nil) -> Sandbox.Result {
    lock.withLock { _ in sandbox.execute(words, environment: environment, input: input.map { Array($0.utf8) }) }
  }

  /// The program and the first arguments with which `psql` comes in as the administrator.
  public var psql: [String] { ["psql", "-h", folder + "/socket", "-p", "\(port)", "-X", "-v", "ON_ERROR_STOP=1"] }

  @discardableResult
  public func migrate(_ database: String = "store") throws -> String {
    let result = run(psql + ["-U", "postgres", "-d", database, "-f", Self.migrations + "/migrate.sql"])
    if result.exitCode != 0 { throw TrialError(result.errors) }
    return result.output
  }

  /// Runs SQL as the administrator; gives the rows, fields between `|`.
  @discardableResult
  public func administer(_ text: String, in database: String = "store") throws -> String {
    let result = run(psql + ["-U", "postgres", "-d", database, "-qAt", "-f", "-"], input: text)
    if result.exitCode != 0 { throw TrialError(result.errors) }
    return result.output
  }

  /// Runs SQL with a user's rights, and nothing else: what she could send.
  public func attempt(_ text: String, as user: String) -> (output: String, errors: String) {
    let result = run(
      [
        "psql", "-X", "-qAt", "-f", "-", "-d",
        "host=127.0.0.1 port=\(port) dbname=store user=\(user) password=secret-\(user)",
      ],
      input: text)
    return (result.output, result.errors)
  }

  /// Makes a role with an account.
  public func addUsers(_ users: [String]) throws {
    try administer(
      users.map { "CREATE ROLE \"\($0)\" LOGIN PASSWORD 'secret-\($0)' IN ROLE ubiquitous_store_user;\n" }.joined())
  }

  /// A service of this user's on this server, over TCP by password.
  public func service(for user: String) throws -> String {
    try service("host=127.0.0.1\nuser=\(user)\npassword=secret-\(user)\n")
  }

  /// A service with these lines, and port and database of this server.
  public func service(_ lines: String, database: String = "store") throws -> String {
    try Self.services.withLock { services in
      services.count += 1
      let name = "service\(services.count)"
      services.text += "[\(name)]\nport=\(port)\ndbname=\(database)\n\(lines)"
      let isFirst = services.path.isEmpty
      if isFirst {
        services.path = "/tmp/services-\(getpid())-\(UUID().uuidString)"
        TestFolders.removeAtLast(services.path)
      }
      try AtomicReplacement.write(Array(services.text.utf8), to: services.path, mode: 0o600)
      // Once: others of the process may be reading their environment.
      if isFirst { setenv("PGSERVICEFILE", services.path, 1) }
      return name
    }
  }

  private static let services = Mutex((path: "", text: "", count: 0))
}
