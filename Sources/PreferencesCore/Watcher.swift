import ForcedDomain
import Glibc
import LinuxFiles

/// Follows what others change, on one thread for all search lists that observe: new generations of the forced domain,
/// edges of time windows, files that other processes replace.
///
/// While some list has an observer, inotify wakes the thread; where inotify can't be had (a user's instances are limited,
/// 128 as a rule), it looks every 50 ms instead. Otherwise, and as the net below inotify (network file systems tell
/// nothing), it looks once a second, and at the very edge of a window. A look is one `stat` for each file.
final class Watcher: @unchecked Sendable {
  static let calmInterval: Int64 = 1000
  static let observedIntervalWithoutInotify: Int64 = 50

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
    var descriptors: [Int32] = [-1, -1]
    if pipe(&descriptors) != 0 { return }
    for descriptor in descriptors {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    wakeDescriptors = (descriptors[0], descriptors[1])
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
    var isObserved = false
    /// Milliseconds until the next edge of a window.
    var nextEdge: Int64?
    var wakeDescriptor: Int32 = -1

    var directories: Set<String> {
      // With the directories above those that need not be there, so that they are seen to appear.
      let optional = files.map(\.file).filter { $0.isOptional }.map { FilePath.parent(of: $0.directory) }
      return Set(files.map(\.directory) + optional + policies.map(\.installation.stateDirectory))
    }
    var names: Set<String> {
      Set(
        files.map { FilePath.name(of: $0.path) } + files.map { FilePath.name(of: $0.directory) }
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
        scene.isObserved = scene.isObserved || !list.observers.isEmpty
        if let edge = list.view.truth?.nextEdge {
          let seconds = min(max(edge - list.configuration.clock(), 0), 3600)
          let left = seconds * 1000 - (seconds == 0 ? 0 : WallClock.unixMilliseconds() % 1000)
          scene.nextEdge = min(scene.nextEdge ?? left, left)
        }
      }
      scene.policies = Array(policies.values)
      scene.files = Array(files.values)
      return scene
    }
  }

  private func run() {
    var inotify = gate.withWork { Inotify() }
    while true {
      // Between the gate's two spans the thread only waits in the kernel.
      let (scene, isNew) = gate.withWork {
        let scene = self.scene()
        if scene.isObserved { return (scene, inotify.watch(scene.directories)) }
        inotify.stop()
        return (scene, false)
      }
      var timeout = scene.policies.isEmpty ? 3_600_000 : Self.calmInterval
      if scene.isObserved && !inotify.isAvailable { timeout = Self.observedIntervalWithoutInotify }
      if let edge = scene.nextEdge { timeout = min(timeout, max(edge, 1)) }
      // What happened in a directory before it was watched is seen now.
      if isNew { timeout = 0 }
      inotify.wait(scene.wakeDescriptor, timeout: Int32(timeout))
      let notices = gate.withWork {
        inotify.concerns(scene.names, wake: scene.wakeDescriptor) || isNew ? look(at: scene) : []
      }
      for notice in notices { notice.deliver() }
    }
  }

  private func look(at scene: Scene) -> [Notice] {
    let engine = Engine.shared
    var notices: [Notice] = []
    for policy in scene.policies { notices += engine.refresh(policy, waiting: false) }
    notices += engine.refresh(scene.files, waiting: false)
    return notices
  }
}

/// The inotify side of the watcher: which directories are watched, and whether what happened there concerns us.
private struct Inotify: ~Copyable {
  private var watch: FileWatch?
  private var watched: [String: Int32] = [:]
  private(set) var isAvailable = true
  private var descriptors: [pollfd] = []
  private var happened = 0

  /// - Returns: whether a directory is watched from now on that was not.
  mutating func watch(_ directories: Set<String>) -> Bool {
    if watch == nil {
      do throws(Errno) {
        watch = try FileWatch()
        isAvailable = true
      } catch {
        isAvailable = false
        return false
      }
    }
    var isNew = false
    for (directory, number) in watched where !directories.contains(directory) {
      watch?.remove(number)
      watched[directory] = nil
    }
    for directory in directories where watched[directory] == nil {
      // A directory that is not there yet is tried again at each look.
      do throws(FileError) {
        if let number = try watch?.add(directory: directory) {
          watched[directory] = number
          isNew = true
        }
      } catch {
        if error.errno == .noSpace { isAvailable = false }
      }
    }
    return isNew
  }

  mutating func stop() {
    watch = nil
    watched = [:]
    isAvailable = true
  }

  /// Waits until something happens or the time is over.
  mutating func wait(_ wake: Int32, timeout: Int32) {
    descriptors = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
    if let descriptor = watch?.descriptor {
      descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }
    happened = Int(poll(&descriptors, nfds_t(descriptors.count), timeout))
  }

  /// Whether it is time to look: something of ours changed, or the time is over.
  mutating func concerns(_ names: Set<String>, wake: Int32) -> Bool {
    if happened <= 0 { return true }
    var isOurs = false
    if descriptors[0].revents != 0 {
      var bytes = [UInt8](repeating: 0, count: 256)
      while read(wake, &bytes, bytes.count) > 0 {}
      isOurs = true
    }
    if descriptors.count > 1, descriptors[1].revents != 0, let changes = watch?.changes() {
      for change in changes {
        if change.overflowed || change.name.isEmpty {
          // A watched directory itself went, or events were lost: begin again.
          watched = [:]
          watch = nil
          return true
        }
        isOurs = isOurs || names.contains(change.name)
      }
    }
    return isOurs
  }
}
