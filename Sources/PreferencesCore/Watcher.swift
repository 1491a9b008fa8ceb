import ForcedDomain
import Glibc
import LinuxFiles

/// Follows what others change, on one thread for all search lists that observe: new generations of the forced domain,
/// edges of time windows, files that other processes replace.
///
/// While some list has an observer, inotify wakes the thread; where inotify can't be had (a user's instances are limited,
/// 128 as a rule), it looks every 50 ms instead. Otherwise, and as the net below inotify, it looks once a second, and at
/// the very edge of a window. A look is one `stat` for each file. On file systems that other machines may change, of which
/// inotify tells nothing, it is always the look of each second that counts, and it opens the file, so that the server is
/// asked.
final class Watcher: @unchecked Sendable {
  static let calmInterval: Int64 = 1000
  static let observedIntervalWithoutInotify: Int64 = 50
  /// After a look that passed over a file which this process was writing.
  static let retryInterval: Int64 = 10

  let gate = ForkGate()
  // Guarded by the engine's lock.
  private var hasThread = false
  private var wakeDescriptors: (read: Int32, write: Int32) = (-1, -1)

  /// Starts the thread, or wakes it to take in that lists or observers came or went. Under the engine's lock.
  func wake() {
    if hasThread {
      var byte: UInt8 = 0
      // A full pipe wakes as well as another byte does.
      _ = write(wakeDescriptors.write, &byte, 1)
      return
    }
    guard let ends = try? Pipe.open(neverWaits: true) else { return }
    wakeDescriptors = ends
    hasThread = BackgroundThread.start { _ in
      Engine.shared.watcher.run()
      return nil
    }
    if !hasThread { closeDescriptors() }
  }

  private func closeDescriptors() {
    close(wakeDescriptors.read)
    close(wakeDescriptors.write)
    wakeDescriptors = (-1, -1)
  }

  func renewAfterFork() {
    gate.renew()
    if hasThread { closeDescriptors() }
    hasThread = false
  }

  /// What there is to look at, taken under the lock.
  private struct Scene {
    var policies: [PolicySource] = []
    var files: [DomainFile] = []
    /// Those of the files that other machines may change.
    var shared: Set<ObjectIdentifier> = []
    var isObserved = false
    /// Milliseconds until the next edge of a window.
    var nextEdge: Int64?
    var wakeDescriptor: Int32 = -1

    var isEmpty: Bool { policies.isEmpty && files.isEmpty }

    var directories: Set<String> {
      Set(files.map(\.directory) + policies.map(\.installation.stateDirectory))
    }
    var names: Set<String> {
      Set(
        files.map { FilePath.name(of: $0.path) }
          + policies.flatMap {
            [FilePath.name(of: $0.installation.generationMarker), FilePath.name(of: $0.installation.forcedFile)]
          })
    }
  }

  private func scene() -> Scene {
    let engine = Engine.shared
    return engine.lock.withLock {
      var scene = Scene(wakeDescriptor: wakeDescriptors.read)
      var policies: [ObjectIdentifier: PolicySource] = [:]
      var files: [ObjectIdentifier: DomainFile] = [:]
      for list in engine.lists.values where list.configuration.observes {
        policies[ObjectIdentifier(list.policy)] = list.policy
        for file in list.files { files[ObjectIdentifier(file)] = file }
        scene.isObserved = scene.isObserved || list.isObserved
        if let edge = list.view.truth?.nextEdge {
          let seconds = min(max(edge - list.configuration.clock(), 0), 3600)
          let left = seconds * 1000 - (seconds == 0 ? 0 : WallClock.unixMilliseconds() % 1000)
          scene.nextEdge = min(scene.nextEdge ?? left, left)
        }
      }
      scene.policies = Array(policies.values)
      scene.files = Array(files.values)
      scene.shared = Set(files.filter { $0.value.isShared ?? false }.keys)
      return scene
    }
  }

  private func run() {
    var inotify = gate.withWork { WatchedDirectories() }
    // What was passed over at the last look, and when the last looks at everything were.
    var behind = Scene()
    var lastLook = Self.now()
    var lastSharedLook = lastLook
    while true {
      // Between the gate's two spans the thread only waits in the kernel.
      let scene = gate.withWork {
        let scene = self.scene()
        if scene.isObserved { inotify.follow(scene.directories) } else { inotify.stop() }
        return scene
      }
      var interval = scene.policies.isEmpty ? 3_600_000 : Self.calmInterval
      if scene.isObserved && !inotify.isAvailable { interval = Self.observedIntervalWithoutInotify }
      let next = min(lastLook + interval, Self.now() + (scene.nextEdge ?? interval))
      var timeout = inotify.isNew ? 0 : max(next - Self.now(), 1)
      if !behind.isEmpty { timeout = min(timeout, Self.retryInterval) }
      inotify.wait(scene.wakeDescriptor, timeout: Int32(timeout))
      let notices = gate.withWork { () -> [Notice] in
        var seen = behind
        let isConcerned = inotify.concerns(scene.names, wake: scene.wakeDescriptor)
        if isConcerned || inotify.isNew || Self.now() >= next {
          lastLook = Self.now()
          seen = scene
          // inotify, or a short interval, is no reason to ask a server more often.
          if lastLook - lastSharedLook < Self.calmInterval {
            seen.files = scene.files.filter { file in inotify.told || !scene.shared.contains(ObjectIdentifier(file)) }
          } else {
            lastSharedLook = lastLook
          }
        }
        return look(at: seen, passedOver: &behind)
      }
      for notice in notices { notice.deliver() }
    }
  }

  private static func now() -> Int64 { Int64(WallClock.monotonicSeconds() * 1000) }

  /// Does not wait for what another thread of the process is reading or writing just now.
  private func look(at scene: Scene, passedOver: inout Scene) -> [Notice] {
    let engine = Engine.shared
    var notices: [Notice] = []
    passedOver = Scene()
    for policy in scene.policies {
      if let news = engine.refresh(policy, waiting: false) {
        notices += news
      } else {
        passedOver.policies.append(policy)
      }
    }
    var busy: [DomainFile] = []
    notices += engine.refresh(scene.files) { busy.append($0) }
    passedOver.files = busy
    return notices
  }
}
