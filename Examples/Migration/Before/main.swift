import Foundation

// A reader's settings, written for Foundation's `UserDefaults`: `Migration show`, `Migration change`, `Migration preset`,
// `Migration reset`.

let suiteName = "org.example.Reader"
guard let defaults = UserDefaults(suiteName: suiteName) else { exit(69) }

defaults.register(defaults: [
  "FontSize": 12, "LineHeight": 1.25, "Theme": "light", "Hyphenation": true, "Shelves": ["Unread", "Read"],
])
UserDefaults.standard.register(defaults: ["Launches": 0])

/// What a reader sees for a moment only: kept in a volatile domain, never on disk.
defaults.setVolatileDomain(["Page": 3, "Zoom": 1.5], forName: "Session")

@MainActor func show() {
  print("theme:", defaults.string(forKey: "Theme") ?? "none")
  print("font:", defaults.integer(forKey: "FontSize"), "lines:", defaults.double(forKey: "LineHeight"))
  print("margin:", defaults.float(forKey: "Margin"), "hyphenation:", defaults.bool(forKey: "Hyphenation"))
  print("shelves:", defaults.stringArray(forKey: "Shelves") ?? [])
  let places = defaults.dictionary(forKey: "Places") as? [String: Int] ?? [:]
  print("places:", places.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
  print("folder:", defaults.url(forKey: "Folder")?.path ?? "none")
  print("cover:", defaults.data(forKey: "Cover").map { [UInt8]($0) } ?? [])
  print("opened:", (defaults.object(forKey: "Opened") as? Date)?.timeIntervalSinceReferenceDate ?? 0)
  print("page:", defaults.volatileDomain(forName: "Session")["Page"] as? Int ?? 0)
  print("launches:", UserDefaults.standard.integer(forKey: "Launches"))
}

switch CommandLine.arguments.dropFirst().first {
case "show":
  show()
case "change":
  defaults.set("dark", forKey: "Theme")
  defaults.set(14, forKey: "FontSize")
  defaults.set(1.5, forKey: "LineHeight")
  defaults.set(Float(0.1), forKey: "Margin")
  defaults.set(false, forKey: "Hyphenation")
  defaults.set(["Unread", "Favourites", "Später"], forKey: "Shelves")
  defaults.set(["moby-dick": 41, "walden": 7], forKey: "Places")
  defaults.set(URL(fileURLWithPath: "/srv/books"), forKey: "Folder")
  defaults.set(Data([0, 1, 255]), forKey: "Cover")
  defaults.set(Date(timeIntervalSinceReferenceDate: 694_265_400), forKey: "Opened")
  UserDefaults.standard.set(UserDefaults.standard.integer(forKey: "Launches") + 1, forKey: "Launches")
case "preset":
  let token = NotificationCenter.default.addObserver(
    forName: UserDefaults.didChangeNotification, object: nil, queue: nil
  ) { _ in print("Settings changed.") }
  defaults.setPersistentDomain(["Theme": "sepia", "FontSize": "18"], forName: suiteName)
  NotificationCenter.default.removeObserver(token)
case "reset":
  for key in ["Theme", "FontSize", "LineHeight"] { defaults.removeObject(forKey: key) }
default:
  print("Migration show | change | preset | reset")
}

guard defaults.synchronize(), UserDefaults.standard.synchronize() else { exit(74) }
