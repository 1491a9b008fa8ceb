import CManagedPreferences
import ForcedDomain
import Foundation
import LinuxFiles
import PropertyList
import Synchronization
import Testing

@testable import ManagedPreferencesC

/// Callbacks into C, and the evidence that comes with forced keys.
@Suite struct ObservationTests {
  /// What a callback was told, and its end.
  final class Notes: Sendable {
    let lines = Mutex<[String]>([])
    let ends = Atomic<Int>(0)
    let threads = Mutex<[Bool]>([])

    var all: [String] { lines.withLock { $0 } }
    /// As C's user data: one more reference, which `end` gives back.
    var userData: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func of(_ userData: UnsafeMutableRawPointer?) -> Notes {
      Unmanaged<Notes>.fromOpaque(userData!).takeUnretainedValue()
    }

    static let end: mp_destroy_callback = { userData in
      Notes.of(userData).ends.add(1, ordering: .relaxed)
      Unmanaged<Notes>.fromOpaque(userData!).release()
    }

    static let change: mp_change_callback = { change, userData in
      let change = change!.pointee
      let keys = (0..<change.key_count).map { String(cString: change.keys[$0]!) }
      let domain = change.domain.map { String(cString: $0) } ?? "-"
      Notes.of(userData).note("\(change.origin.rawValue) \(domain) \(keys)")
    }

    static let key: mp_key_callback = { change, userData in
      let change = change!.pointee
      func text(_ value: OpaquePointer?) -> String { value.map { ValueHandle.of($0).value.displayText } ?? "-" }
      Notes.of(userData).note(
        "\(change.kind.rawValue) \(change.origin.rawValue) \(String(cString: change.key)) \(text(change.old_value)) "
          + "\(text(change.new_value)) \(change.was_forced) \(change.is_forced)")
    }

    func note(_ line: String) {
      lines.withLock { $0.append(line) }
      threads.withLock { $0.append(Thread.isMainThread || Thread.current.name == Notes.caller) }
    }
    static let caller = "caller"
  }

  private func observe(_ handle: Handle, _ notes: Notes) -> OpaquePointer? {
    var observation: OpaquePointer?
    #expect(mp_observe(handle.pointer, Notes.change, notes.userData, Notes.end, &observation) == MP_OK)
    return observation
  }

  private func observe(_ handle: Handle, _ key: String, _ options: UInt32, _ notes: Notes) -> OpaquePointer? {
    var observation: OpaquePointer?
    #expect(mp_observe_key(handle.pointer, key, options, Notes.key, notes.userData, Notes.end, &observation) == MP_OK)
    return observation
  }

  @Test func changesOfAHandle() throws {
    let sandbox = try Sandbox()
    let (handle, other) = (try sandbox.handle(), try sandbox.handle())
    let notes = Notes()
    let observation = observe(handle, notes)
    #expect(mp_set_integer(handle.pointer, "a", 1) == MP_OK)
    #expect(mp_set_integer(other.pointer, "b", 1) == MP_OK)
    let volatileValues = ValueHandle.owned(.dictionary(["c": .integer(1)]))
    #expect(mp_remove_volatile_domain(handle.pointer, "NSRegistrationDomain") == MP_OK)
    #expect(mp_set_volatile_domain(handle.pointer, "NSRegistrationDomain", volatileValues) == MP_OK)
    mp_value_release(volatileValues)
    #expect(notes.all == ["1 org.example.Editor [\"a\"]", "2 org.example.Editor [\"b\"]", "1 - [\"c\"]"])
    mp_observation_cancel(observation)
    #expect(notes.ends.load(ordering: .relaxed) == 1)
  }

  @Test func changesByOthers() async throws {
    let sandbox = try Sandbox()
    try sandbox.store(["k": .string("old")])
    let handle = try sandbox.handle(observes: true)
    let notes = Notes()
    let observation = observe(handle, "k", MP_OBSERVE_INITIAL, notes)
    try sandbox.store(["k": .string("new")])
    #expect(await eventually { notes.all.count == 2 })
    try sandbox.install(["k": .string("forced")])
    #expect(await eventually { notes.all.count == 3 })
    try sandbox.install([:], generation: 2)
    #expect(await eventually { notes.all.count == 4 })
    #expect(
      notes.all == [
        "1 1 k - \"old\" false false", "3 3 k \"old\" \"new\" false false", "3 4 k \"new\" \"forced\" false true",
        "3 4 k \"forced\" \"new\" true false",
      ])
    mp_observation_cancel(observation)
    #expect(await eventually { notes.ends.load(ordering: .relaxed) == 1 })
  }

  @Test func beforeAndAfter() throws {
    let sandbox = try Sandbox()
    let handle = try sandbox.handle()
    let notes = Notes()
    let observation = observe(handle, "k", MP_OBSERVE_PRIOR, notes)
    #expect(mp_set_bool(handle.pointer, "k", true) == MP_OK)
    #expect(notes.all == ["2 1 k - - false false", "3 1 k - true false false"])
    mp_observation_cancel(observation)
  }

  /// The callback may end its own observation; `destroy` follows the callback's return.
  @Test func cancelledFromWithin() throws {
    final class Own {
      var observation: OpaquePointer?
      var calls = 0
      var isInside = false
      var endedInside: Bool?
    }
    let handle = try Sandbox().handle()
    let own = Own()
    let callback: mp_change_callback = { _, userData in
      let own = Unmanaged<Own>.fromOpaque(userData!).takeUnretainedValue()
      own.calls += 1
      own.isInside = true
      mp_observation_cancel(own.observation)
      own.isInside = false
    }
    let end: mp_destroy_callback = { userData in
      let own = Unmanaged<Own>.fromOpaque(userData!).takeUnretainedValue()
      own.endedInside = own.isInside
    }
    let userData = Unmanaged.passUnretained(own).toOpaque()
    #expect(mp_observe(handle.pointer, callback, userData, end, &own.observation) == MP_OK)
    #expect(mp_set_integer(handle.pointer, "k", 1) == MP_OK)
    #expect(mp_set_integer(handle.pointer, "k", 2) == MP_OK)
    #expect(own.calls == 1)
    #expect(own.endedInside == false)
  }

  /// `destroy` may call the library, and what it observed goes on after its handle was closed.
  @Test func observationOutlivesItsHandle() throws {
    let sandbox = try Sandbox()
    let other = try sandbox.handle()
    let notes = Notes()
    let closed = try sandbox.handle()
    var observation = observe(closed, notes)
    mp_close(closed.pointer)
    #expect(mp_set_integer(other.pointer, "k", 1) == MP_OK)
    #expect(notes.all == ["2 org.example.Editor [\"k\"]"])
    mp_observation_cancel(observation)

    let end: mp_destroy_callback = { userData in
      #expect(mp_set_integer(OpaquePointer(userData!), "FromTheEnd", 1) == MP_OK)
    }
    let raw = UnsafeMutableRawPointer(other.pointer)
    #expect(mp_observe(other.pointer, { _, _ in }, raw, end, &observation) == MP_OK)
    mp_observation_cancel(observation)
    var number: Int64 = 0
    #expect(mp_get_integer(other.pointer, "FromTheEnd", &number) == MP_OK)
    #expect(number == 1)
  }

  @Test func destroyFollowsAFailure() throws {
    let handle = try Sandbox().handle()
    let notes = Notes()
    var observation: OpaquePointer?
    #expect(mp_observe(nil, Notes.change, notes.userData, Notes.end, &observation) == MP_ERROR_NULL)
    #expect(mp_observe_key(handle.pointer, "", 0, Notes.key, notes.userData, Notes.end, &observation) == MP_ERROR_KEY)
    #expect(mp_observe_key(handle.pointer, "k", 0, nil, notes.userData, Notes.end, &observation) == MP_ERROR_NULL)
    #expect(observation == nil)
    #expect(notes.ends.load(ordering: .relaxed) == 3)
  }

  // MARK: Who forces

  @Test func forcingProfiles() throws {
    let sandbox = try Sandbox()
    let now = WallClock.unixSeconds()
    try sandbox.install(["k": .integer(1)], generation: 3, window: now - 60..<now + 3600)
    let handle = try sandbox.handle()
    var profiles: UnsafeMutablePointer<mp_profile>?
    var count = 0
    #expect(mp_forced_by(handle.pointer, "k", &profiles, &count) == MP_OK)
    try #require(count == 1)
    let profile = profiles![0]
    #expect(String(cString: profile.id) == "org.example.lab.exam")
    #expect(String(cString: profile.title) == "Exam mode")
    #expect(profile.generation == 3)
    #expect(profile.until == now + 3600)
    mp_free(profiles)
  }

  /// Installed, and nothing readable there: everything is locked, by nobody that can be named.
  @Test func unreadablePolicies() throws {
    let sandbox = try Sandbox()
    try sandbox.install(["k": .integer(1)])
    try AtomicReplacement.write([0, 1, 2], to: sandbox.installation.forcedFile, mode: 0o644)
    let handle = try sandbox.handle()
    var isForced = false
    #expect(mp_is_forced(handle.pointer, "any", &isForced) == MP_OK)
    #expect(isForced)
    var profiles: UnsafeMutablePointer<mp_profile>?
    var count = 1
    #expect(mp_forced_by(handle.pointer, "any", &profiles, &count) == MP_OK)
    #expect(profiles == nil && count == 0)
  }

  @Test func everySource() throws {
    let sandbox = try Sandbox()
    try sandbox.install(["k": .integer(1)])
    let handle = try sandbox.handle(arguments: ["-k", "2"])
    var sources: UnsafeMutablePointer<mp_source>?
    var count = 0
    #expect(mp_get_sources(handle.pointer, "k", &sources, &count) == MP_OK)
    let lines = (0..<count).map { index in
      let source = sources![index]
      let file = source.path.map { (String(cString: $0) as NSString).lastPathComponent } ?? "-"
      return
        "\(String(cString: mp_layer_name(source.layer))) \(String(cString: source.domain)) \(file) \(source.has_value)"
    }
    mp_free(sources)
    #expect(lines.first == "forced org.example.Editor forced true")
    #expect(lines.contains("argument  - true"))
    #expect(lines.contains("application org.example.Editor org.example.Editor.plist false"))
    #expect(lines.contains("global NSGlobalDomain .GlobalPreferences.plist false"))
    #expect(lines.last == "registration  - false")
    let layers = (0..<14).map { mp_layer_name(mp_layer(rawValue: $0)).map { String(cString: $0) } }
    #expect(layers.dropFirst() == ArraySlice(Layers.names))
  }
}
