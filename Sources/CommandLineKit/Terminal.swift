import Glibc

/// The three standard streams, and what may be sent to them.
public enum Terminal {
  public enum Stream: Int32, Sendable {
    case output = 1
    case errors = 2
  }

  /// Whether a person reads this stream.
  public static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

  /// Colours only on a terminal that has them, and never against the reader's wish (`NO_COLOR`, no-color.org).
  public static func palette(for stream: Stream) -> Palette {
    Palette(
      isEnabled: isTerminal(stream) && environment("NO_COLOR").isEmpty && environment("TERM") != "dumb")
  }

  /// Writes everything, across interrupts and short writes.
  ///
  /// - Returns: false when the stream can't take it (a full disk, a closed pipe): the caller decides what that means.
  @discardableResult
  public static func write(_ bytes: [UInt8], to stream: Stream) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        let count = Glibc.write(stream.rawValue, buffer.baseAddress! + written, buffer.count - written)
        if count < 0 {
          if errno == EINTR { continue }
          return false
        }
        written += count
      }
      return true
    }
  }

  @discardableResult
  public static func write(_ text: String, to stream: Stream) -> Bool { write(Array(text.utf8), to: stream) }

  /// A variable of the environment; empty when it is not set.
  static func environment(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
}

/// What a piece of text means to the eye. Words never depend on it.
public enum TextStyle: String, Sendable, Hashable {
  case strong = "1"
  case faint = "2"
  case error = "31"
  case good = "32"
  case warning = "33"
  case place = "36"
}

/// Paints text, or leaves it alone.
public struct Palette: Sendable, Hashable {
  public let isEnabled: Bool

  public init(isEnabled: Bool) { self.isEnabled = isEnabled }

  public static let plain = Palette(isEnabled: false)

  public func paint(_ text: String, _ style: TextStyle) -> String {
    isEnabled && !text.isEmpty ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
  }
}
