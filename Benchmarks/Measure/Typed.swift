import Foundation
import ManagedPreferences

/// Properties over keys that `Benchmarks/generate` writes, of each kind one; the list is a registered default.
private final class BenchmarkPreferences: Preferences {
  @Preference("SafeBrowsingPolicy.Key000000") var flag = true
  @Preference("SafeBrowsingPolicy.Key000001") var number = 0
  @Preference("SafeBrowsingPolicy.Key000002") var text = ""
  @Preference("SafeBrowsingPolicy.Key000005") var optionalText: String?
  @Preference("Shelves") var list = ["Unread", "Read", "Borrowed", "Lent", "Lost and found again"]
}

@inline(__always)
private func times(_ count: Int, _ body: () -> UInt64) -> UInt64 {
  var sum: UInt64 = 0
  for _ in 0..<count { sum &+= body() }
  return sum
}

/// Reads through typed properties beside the calls of `ManagedDefaults` that they stand for, key by key.
///
/// Expects what `measureReads` expects.
func measureTyped() {
  ManagedDefaults.applicationIdentifier = Keys.domain
  nonisolated(unsafe) let defaults = ManagedDefaults.standard
  nonisolated(unsafe) let preferences = BenchmarkPreferences.sharedInstance
  precondition(preferences.$number.isForced && preferences.number == 1, "the policy is not installed")
  precondition(preferences.list.count == 5 && preferences.optionalText != nil)

  Timing.measure([
    (
      "typed: ManagedDefaults objectIsForced,",
      { n, _ in
        times(n) { defaults.objectIsForced(forKey: "SafeBrowsingPolicy.Key000001") ? 1 : 0 }
      }
    ),
    ("typed: $property.isForced,", { n, _ in times(n) { preferences.$number.isForced ? 1 : 0 } }),
    (
      "typed: ManagedDefaults bool,",
      { n, _ in
        times(n) { defaults.bool(forKey: "SafeBrowsingPolicy.Key000000") ? 1 : 0 }
      }
    ),
    ("typed: Bool property,", { n, _ in times(n) { preferences.flag ? 1 : 0 } }),
    (
      "typed: ManagedDefaults integer,",
      { n, _ in
        times(n) { UInt64(truncatingIfNeeded: defaults.integer(forKey: "SafeBrowsingPolicy.Key000001")) }
      }
    ),
    ("typed: Int property,", { n, _ in times(n) { UInt64(truncatingIfNeeded: preferences.number) } }),
    (
      "typed: ManagedDefaults string,",
      { n, _ in
        times(n) { UInt64(defaults.string(forKey: "SafeBrowsingPolicy.Key000002")!.utf8.count) }
      }
    ),
    ("typed: String property,", { n, _ in times(n) { UInt64(preferences.text.utf8.count) } }),
    ("typed: String? property,", { n, _ in times(n) { UInt64(preferences.optionalText!.utf8.count) } }),
    (
      "typed: ManagedDefaults stringArray,",
      { n, _ in
        times(n) { UInt64(defaults.stringArray(forKey: "Shelves")!.count) }
      }
    ),
    ("typed: [String] property,", { n, _ in times(n) { UInt64(preferences.list.count) } }),
    (
      "typed: sharedInstance and Int property,",
      { n, _ in
        times(n) { UInt64(truncatingIfNeeded: BenchmarkPreferences.sharedInstance.number) }
      }
    ),
    (
      "typed: ManagedDefaults standard and integer,",
      { n, _ in
        times(n) {
          UInt64(truncatingIfNeeded: ManagedDefaults.standard.integer(forKey: "SafeBrowsingPolicy.Key000001"))
        }
      }
    ),
  ])
}
