import AuditLog
import CommandLineKit
import ForcedDomain
import Glibc
import LinuxFiles
import PropertyList

/// `audit show`: records, oldest first.
enum AuditShowVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "audit", "show", summary: "Print the records of the audit log, oldest first.",
      flags: AuditFilter.flags + [
        Flag("--follow", "go on with what is appended, until interrupted"), CommonFlags.format,
      ],
      notes: [
        "A name with ? is what a process said of itself. It proves nothing that the log is",
        "shown: audit verify does. With --follow, json is one document a line. No match is no",
        "error, and said on standard error; a KIND that there is not is one (64). A TIME is",
        "2026-12-01, '2026-12-01 09:30' of this machine's zone, or 2026-12-01T09:30:00+01:00.",
      ],
      example: "sudo policyctl audit show --kind policy")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let filter = try AuditFilter(call)
    let place = AuditSite(call.installation()).place
    if call.arguments.has("--follow") { try follow(place, filter, call) }
    var view = AuditView()
    let palette = Terminal.palette(for: .output)
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("records")
    json.beginArray()
    var output: [UInt8] = []
    var found = false
    var matched = false
    var broken: CommandFailure?
    do throws(AuditLogError) {
      try LogReader(place).forEachRecord { record throws(AuditLogError) in
        found = true
        guard broken == nil, filter.includes(record) else { return }
        matched = true
        if call.wantsJSON {
          AuditView.write(record, to: &json)
          output += json.drain()
        } else {
          output += Array(view.line(record, palette).utf8)
        }
        if output.count < block { return }
        do throws(CommandFailure) { try Output.print(output) } catch { broken = error }
        output.removeAll(keepingCapacity: true)
      }
    } catch {
      throw CommandFailure(error, of: call)
    }
    if let broken { throw broken }
    if !found { throw nothing(place) }
    json.endArray()
    json.endObject()
    if call.wantsJSON { output += json.drain() + [UInt8(ascii: "\n")] }
    try Output.print(output)
    if !matched { Policyctl.note("no records match") }
    return .done
  }

  /// So much is printed at a time, and no more of a log is kept in memory.
  private static let block = 64 << 10

  static func nothing(_ place: AuditLogPlace) -> CommandFailure {
    CommandFailure(.noInput, "\(TerminalText.escape(place.directory)): there are no records")
  }

  /// Prints what is there and what comes, until the process is ended.
  private static func follow(
    _ place: AuditLogPlace, _ filter: AuditFilter, _ call: Invocation
  ) throws(CommandFailure) {
    var view = AuditView()
    let palette = Terminal.palette(for: .output)
    var next: UInt64 = 0
    while true {
      var output: [UInt8] = []
      do throws(AuditLogError) {
        try LogReader(place).forEachRecord(from: next) { record throws(AuditLogError) in
          next = record.sequence + 1
          guard filter.includes(record) else { return }
          if call.wantsJSON {
            var json = JSONWriter(pretty: false)
            AuditView.write(record, to: &json)
            output += json.bytes + [UInt8(ascii: "\n")]
          } else {
            output += Array(view.line(record, palette).utf8)
          }
        }
      } catch {
        throw CommandFailure(error, of: call)
      }
      if !output.isEmpty { try Output.print(output) }
      wait(for: place)
    }
  }

  /// Until something changes in the log's folder, or a second has gone by.
  private static func wait(for place: AuditLogPlace) {
    guard let watch = try? FileWatch(), (try? watch.add(directory: place.directory)) != nil else {
      usleep(500_000)
      return
    }
    var descriptor = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    poll(&descriptor, 1, 1000)
  }
}
