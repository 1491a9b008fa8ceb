import Foundation
import Glibc
import ManagedPreferences

/// A timer's preferences in a terminal, in the manner of PAPreferences: `FocusTimer`, `FocusTimer set theme dark`.
@main
struct FocusTimer {
  static func main() async {
    let environment = ProcessInfo.processInfo.environment
    ManagedDefaults.applicationIdentifier = environment["FOCUS_DOMAIN"] ?? "org.example.FocusTimer"
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case (nil, _): show()
    case ("set", 3): exit(set(arguments[1], arguments[2]))
    case ("reset", 1): reset()
    case ("watch", 2): await watch(Int(arguments[1]) ?? 1)
    default: exit(complain("'\(arguments.joined(separator: " "))' is not a command.\n\(usage)", 64))
    }
  }

  static let usage = """
    Shows and sets the preferences of a timer.
      FocusTimer                  what is set, and what is locked
      FocusTimer set NAME VALUE   store a choice (77 when it is locked)
      FocusTimer reset            forget all choices
      FocusTimer watch COUNT      print the length and its next changes, whoever makes them
    """

  static var preferences: FocusPreferences { .sharedInstance }

  static func show() {
    let preferences = preferences
    line("pomodoroLength", "\(preferences.pomodoroLength)", preferences.$pomodoroLength)
    line("workStartSound", preferences.workStartSound ?? "none", preferences.$workStartSound)
    line("kids", preferences.kids.isEmpty ? "none" : preferences.kids.joined(separator: ", "), preferences.$kids)
    line("theme", preferences.theme.rawValue, preferences.$theme)
  }

  static func line<Value>(_ name: String, _ text: String, _ preference: Preference<Value>.Property) {
    let name = name.padding(toLength: 16, withPad: " ", startingAt: 0)
    print(name + text + (lock(of: preference).map { "  (\($0))" } ?? ""))
  }

  /// What stands beside a control that is greyed out; nil where the user decides.
  static func lock<Value>(of preference: Preference<Value>.Property) -> String? {
    guard preference.isForced else { return nil }
    return "locked by " + (preference.forcedBy.first.map { "\"\($0.title)\"" } ?? "the administrator")
  }

  static func set(_ name: String, _ text: String) -> Int32 {
    let preferences = preferences
    switch name {
    case "pomodoroLength": return assign(Int(text), to: preferences.$pomodoroLength, text)
    case "workStartSound": return assign(.some(text == "none" ? nil : text), to: preferences.$workStartSound, text)
    case "kids": return assign(text.split(separator: ",").map(String.init), to: preferences.$kids, text)
    case "theme": return assign(Theme(rawValue: text), to: preferences.$theme, text)
    default:
      return complain(
        "'\(name)' is not a preference. Choose one of: pomodoroLength, workStartSound, kids, theme.", 64)
    }
  }

  /// The assignment is on the disk when it returns: preferences synchronise automatically.
  static func assign<Value>(_ value: Value?, to preference: Preference<Value>.Property, _ text: String) -> Int32 {
    guard let value else { return complain("'\(text)' is not a value of \(preference.key).", 64) }
    if let lock = lock(of: preference) { return complain("\(preference.key) is \(lock).", 77) }
    preference.value = value
    return 0
  }

  static func reset() {
    let preferences = preferences
    preferences.$pomodoroLength.reset()
    preferences.$workStartSound.reset()
    preferences.$kids.reset()
    preferences.$theme.reset()
  }

  static func watch(_ count: Int) async {
    let length = preferences.$pomodoroLength
    var left = count
    for await seconds in length.values {
      print("\(seconds)" + (length.forcedBy.first.map { ", set by \($0.title)" } ?? ""))
      fflush(nil)
      left -= 1
      if left == 0 { return }
    }
  }

  static func complain(_ text: String, _ status: Int32) -> Int32 {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    return status
  }
}
