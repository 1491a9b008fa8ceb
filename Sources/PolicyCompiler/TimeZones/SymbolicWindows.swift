public import ForcedDomain
import Synchronization

/// Answers windows as they are written, for moments outside the span over which a file carries them expanded
/// (`EvaluationContext.symbolicWindows`).
public final class SymbolicWindows: Sendable {
  private let zones = Mutex(TimeZoneShelf())

  public init() {}

  /// Whether a window is open at a moment (Unix seconds), and when that changes.
  public func state(of window: WeeklyWindow, at instant: Int64) throws(TimeZoneError) -> WindowState {
    let moment = min(max(instant, -1 << 46), 1 << 46)
    // A window that opens at all opens within a year and some days of its first day: every weekday comes by.
    let firstDay = max(moment, Int64(window.firstDay ?? 0) * 86400)
    let span = (moment - 2 * 86400)..<(firstDay + 400 * 86400)
    let result = zones.withLock { zones in
      Result { () throws(TimeZoneError) in try WindowExpansion.intervals(of: window, over: span, zones: &zones) }
    }
    let intervals = try result.get()
    if let open = intervals.first(where: { $0.contains(moment) }) {
      return WindowState(isOpen: true, nextEdge: open.upperBound == span.upperBound ? nil : open.upperBound)
    }
    return WindowState(isOpen: false, nextEdge: intervals.first { $0.lowerBound > moment }?.lowerBound)
  }

  /// What `EvaluationContext` takes. A window whose zone can't be read counts as open and says no edge: a policy holds
  /// rather than lapses. (Compiling and narrowing have refused such zones before.)
  public var evaluate: @Sendable (WeeklyWindow, Int64) -> WindowState {
    { [self] window, instant in
      (try? state(of: window, at: instant)) ?? WindowState(isOpen: true, nextEdge: nil)
    }
  }
}
