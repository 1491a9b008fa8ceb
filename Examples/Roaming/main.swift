import Foundation
import ManagedPreferences
import UbiquitousStorePostgreSQL

// A notepad whose colour and font follow their user from machine to machine.
//
//   Roaming SERVICE      the name of a section of ~/.pg_service.conf (Documentation/ubiquitous-store-postgresql.md)
//
// It reads lines: `colour=blue` sets, `colour=` removes; it ends at the end of its input. Offline it works on, and what was set is
// sent when the server is there again.

guard CommandLine.arguments.count == 2 else {
  FileHandle.standardError.write(Data("Roaming: say the name of a PostgreSQL service\n".utf8))
  exit(64)
}

let store = UbiquitousKeyValueStore.default

@Sendable func show() {
  let settings = store.dictionaryRepresentation.compactMapValues { $0 as? String }
  let text = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  FileHandle.standardOutput.write(Data((text.isEmpty ? "(nothing set)\n" : text + "\n").utf8))
}

// Whatever another machine set. One's own edits are no news.
let observation = NotificationCenter.default.addObserver(
  forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
) { _ in show() }

store.relay(to: try PostgreSQLBackEnd(service: CommandLine.arguments[1]))
show()
while let line = readLine() {
  let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard parts.count == 2 else { continue }
  store.set(parts[1].isEmpty ? nil : parts[1], forKey: parts[0])
  show()
}
store.synchronize()
NotificationCenter.default.removeObserver(observation)
