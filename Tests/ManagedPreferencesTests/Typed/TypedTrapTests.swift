import Foundation
import Testing

@testable import ManagedPreferences

class Titled: Preferences { @Preference("label") var title: String? }
final class Twice: Titled { @Preference var label: String? }
final class Forgetful: Titled { var fruit = "apple" }
final class ForgetfulLater: Titled { lazy var fruit = "apple" }
final class Keyless: Preferences { @Preference("") var title: String? }
final class Distant: Preferences { @Preference var end = Date(timeIntervalSinceReferenceDate: 1e20) }
final class Circular: Preferences {
  @Preference var title: String?
  required init() {
    super.init()
    _ = Circular.sharedInstance
  }
}

/// Mistakes in a declaration stop the program at the first use of the class, with the names that it takes to find them.
@Suite struct TypedTrapTests {
  private func expect(_ message: String, _ result: ExitTest.Result?) {
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("Fatal error: Preferences: \(message)\n"), "\(errors)")
  }

  @Test func twoPropertiesOnOneKey() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Twice(userDefaults: try Sandbox().defaults())
    }
    expect(
      "Twice: the properties \"label\" and \"title\" have the same key \"label\"; give one of them another, as in "
        + "@Preference(\"…\")", result)
  }

  @Test func aPropertyWithoutAKey() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Forgetful(userDefaults: try Sandbox().defaults())
    }
    expect(
      "Forgetful.fruit has no key, so it would be kept in memory alone; write @Preference before it, or name it in "
        + "unstoredProperties", result)
  }

  @Test func aLazyPropertyWithoutAKey() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = ForgetfulLater(userDefaults: try Sandbox().defaults())
    }
    expect(
      "ForgetfulLater.fruit has no key, so it would be kept in memory alone; write @Preference before it, or name it in "
        + "unstoredProperties", result)
  }

  @Test func anEmptyKey() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Keyless(userDefaults: try Sandbox().defaults())
    }
    expect("Keyless.title: the key \"\" is empty", result)
  }

  @Test func aDefaultThatNoFileHolds() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Distant(userDefaults: try Sandbox().defaults())
    }
    expect("Distant.end (key \"end\"): the default can't be stored: the date is not in the years 0 to 9999", result)
  }

  @Test func aValueThatNoFileHolds() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      quiet(Prefs(userDefaults: try Sandbox().defaults())).born = Date(timeIntervalSinceReferenceDate: .nan)
    }
    expect("Prefs.born (key \"born\"): the value can't be stored: the date is not in the years 0 to 9999", result)
  }

  @Test func theSharedInstanceInItsOwnInitializer() async throws {
    let sandbox = try Sandbox()
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = sandbox.folder.path as String] in
      StandardDefaultsTests.enter(folder)
      _ = Circular.sharedInstance
    }
    expect(
      "Circular.sharedInstance is asked for while it is being made, by its own initializer or migration; use self there",
      result)
  }

  @Test func aPreferenceOfNoObject() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Preference<Int>.Property(of: Preference<Int>(wrappedValue: 4, "four")).value
    }
    expect(
      "a @Preference of type Int with the key \"four\" belongs to no preferences object, so it has no place; declare it in "
        + "a subclass of Preferences, and use it after super.init()", result)
  }
}
