import ManagedPreferences

enum Theme: String { case light, dark }

/// All that this program keeps: four properties. Reading and storing them, their keys, defaults and locks are the library's.
final class FocusPreferences: Preferences {
  /// Seconds.
  @Preference var pomodoroLength = 1500
  @Preference var workStartSound: String?
  @Preference var kids: [String] = []
  @Preference var theme = Theme.light

  override class var applicationVersion: String? { "2.0" }

  /// Version 1 counted minutes.
  override func migrate(from version: String?, to newVersion: String) {
    if version == "1.0", $pomodoroLength.isStored { pomodoroLength *= 60 }
  }
}
