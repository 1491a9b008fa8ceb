import Foundation
import Glibc
import ManagedPreferences
import Synchronization

/// A map in a terminal whose type is a preference: `MapViewer`, `MapViewer --show`, `MapViewer --choose Satellite`.
@main
struct MapViewer {
  let preference: MapTypePreference

  static func main() {
    ManagedDefaults.applicationIdentifier = "org.example.MapViewer"
    let viewer = MapViewer(preference: MapTypePreference(defaults: .standard))
    let arguments = Array(CommandLine.arguments.dropFirst())
    // A pair such as `-MapType Hybrid` is a preference for this launch, as for any application.
    switch arguments.first {
    case "--show":
      viewer.show()
    case "--choose":
      exit(viewer.choose(arguments.dropFirst().first ?? "", thenWait: true))
    case "--help", "-h":
      print(usage)
    case let word? where word.hasPrefix("--") && word != "--":
      complain("'\(word)' is not an option.\n\(usage)")
      exit(64)
    default:
      viewer.run()
    }
  }

  static let usage = """
    Shows a map whose type is a preference that an administrator can force.
      MapViewer                     choose with 1, 2, 3 or a name; q quits
      MapViewer --show              print the map and its control once
      MapViewer --choose Satellite  store a choice (77 when the map type is locked)
      MapViewer -MapType Hybrid     a choice for this launch alone
    """

  func show() { draw(onlyIfChanged: false) }

  /// What was drawn last, so that a change is drawn once, whoever notices it first.
  private static let lastControl = Mutex("")

  private func draw(onlyIfChanged: Bool) {
    let control = MapTypeControl(
      text: preference.text, lock: preference.lock?.label(), styled: Self.isTerminal && Self.mayStyle)
    Self.lastControl.withLock { last in
      if onlyIfChanged && control.line == last { return }
      last = control.line
      Self.say(preference.mapType.picture + "\n" + control.line + "\n")
    }
  }

  /// Stores a choice and says what came of it; the exit status that fits.
  func choose(_ text: String, thenWait: Bool = false) -> Int32 {
    guard let type = MapType(typed: text) else {
      let names = MapType.allCases.map(\.rawValue).joined(separator: ", ")
      Self.complain("'\(text)' is not a map type. Choose one of: \(names).")
      return 64
    }
    do {
      try preference.choose(type)
    } catch {
      Self.complain("The map type is \(error.label()); \(type.rawValue) was not chosen.")
      return 77
    }
    // A running program can leave the writing to the library; one that is about to end wants to know.
    if thenWait && !preference.defaults.synchronize() {
      Self.complain("\(type.rawValue) could not be stored. Look at the permissions of the folder of your preferences.")
      return 74
    }
    draw(onlyIfChanged: true)
    return 0
  }

  /// One command a line, from a person or a pipe, until `q` or the end of input.
  func run() {
    show()
    // Another process, a new policy, an exam that begins: whatever changes the preference or its lock is drawn at once.
    let observation = preference.defaults.observe(MapTypePreference.key) { _ in
      MapViewer(preference: MapTypePreference(defaults: .standard)).draw(onlyIfChanged: true)
    }
    defer { observation.cancel() }
    while let line = ask() {
      let command = line.trimmingCharacters(in: .whitespaces)
      switch command.lowercased() {
      case "q", "quit": return
      case "": show()
      default: _ = choose(command)
      }
    }
  }

  private func ask() -> String? {
    if Self.isTerminal {
      Self.say("1 Standard, 2 Satellite, 3 Hybrid, Return to look again, q to quit: ")
    }
    return readLine()
  }

  private static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  private static var mayStyle: Bool { ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty }

  /// Past the buffer of `print`: what is said while the program waits for a command must be seen, and flushing would wait
  /// for the command.
  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
