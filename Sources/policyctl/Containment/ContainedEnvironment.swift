import Glibc
import LinuxFiles

/// The environment of a contained program: a list of what comes along, not of what is left out.
///
/// Addresses of buses, agents and sockets come in variables that each desktop adds to; where such a list forgets one, an
/// application that believes it is led outside. What a program needs to look and talk as its user wants is known.
/// `policyctl run … -- env NAME=VALUE COMMAND` hands over what is not in it.
enum ContainedEnvironment {
  /// Handed over as they are.
  static let names: Set<String> = [
    // Who, and in what language and time zone.
    "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ",
    // The terminal and what runs in it.
    "TERM", "COLORTERM", "TERMINFO", "COLUMNS", "LINES", "NO_COLOR", "CLICOLOR", "LS_COLORS", "SHELL", "PATH", "EDITOR",
    "VISUAL", "PAGER", "LESS", "MANPAGER", "TERM_PROGRAM", "VTE_VERSION",
    // The display and its looks.
    "DISPLAY", "WAYLAND_DISPLAY", "GDK_BACKEND", "GDK_SCALE", "GDK_DPI_SCALE", "GTK_THEME", "QT_QPA_PLATFORM",
    "QT_SCALE_FACTOR", "QT_STYLE_OVERRIDE", "QT_FONT_DPI", "SDL_VIDEODRIVER", "MOZ_ENABLE_WAYLAND", "XCURSOR_THEME",
    "XCURSOR_SIZE", "LIBGL_ALWAYS_SOFTWARE", "MESA_LOADER_DRIVER_OVERRIDE",
  ]

  /// `NAME=VALUE` of what is handed over and what `run` says itself, which wins.
  static func variables(adding own: [String: String]) -> [String] {
    var kept: [String: String] = [:]
    var next = environ
    while let variable = next.pointee {
      let text = String(cString: variable)
      if let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(text[..<equals])
        if names.contains(name) || name.hasPrefix("LC_") { kept[name] = String(text[text.index(after: equals)...]) }
      }
      next += 1
    }
    kept.merge(own) { _, new in new }
    return kept.map { "\($0.key)=\($0.value)" }.sorted()
  }
}
