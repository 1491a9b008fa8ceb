// The smallest possible client: a setting with a default, which an administrator can force.
import ManagedPreferences

ManagedDefaults.applicationIdentifier = "org.example.Editor"
let defaults = ManagedDefaults.standard
defaults.register(defaults: ["AutoSaveInterval": 60])

let seconds = defaults.integer(forKey: "AutoSaveInterval")
if defaults.objectIsForced(forKey: "AutoSaveInterval") {
  let title = defaults.forcedBy("AutoSaveInterval").first?.title ?? "the administrator"
  print("Saving every \(seconds) seconds (set by \(title)).")
} else {
  print("Saving every \(seconds) seconds.")
}
