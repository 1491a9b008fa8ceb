import CProcesses
import CommandLineKit
import Glibc
import LinuxFiles

/// Watches over one run: hands on signals, keeps the copies fresh, ends with the application's exit code.
///
/// The application stays in the process group and on the terminal of whoever typed the command, so that pipes, job control
/// and full-screen programs work as ever. What follows from it (Documentation/decisions/0154):
///
/// - What a terminal sends (Ctrl-C, Ctrl-Z, a new size) the application gets itself. What is sent to `policyctl` alone is
///   handed on; what is sent to the whole group is not, since the application has it already. The witness, a process of the
///   group that takes no signal, tells these two apart.
/// - Such a signal ends bubblewrap's outer process, which waits in the same group. The namespace's first process then
///   becomes ours (we adopt orphans), and the run goes on.
/// - So bubblewrap may not end the application when its own outer process goes (`--die-with-parent`). The witness does that when we
///   go.
final class Supervisor {
  private var run: ContainedProcess
  private let mirror: ReadMirror
  private let signals: Int32
  private let status: Int32
  private let witness: (process: pid_t, channel: Int32)
  private var waiting: [process_signal] = []
  private var isGuarded = false

  /// What goes between fork and exec.
  struct Launch {
    var program: String
    var arguments: [String]
    var environment: [String]
    var descriptors: [Int32]
    var home: (path: String, descriptor: Int32)
    /// What is laid into the home, with its place there.
    var inHome: [(file: SharedFile, place: String)]
  }

  /// Starts bubblewrap. `arguments` gets the descriptor for its status.
  init(
    _ launch: Launch, mirror: ReadMirror, status: (read: Int32, write: Int32)
  ) throws(CommandFailure) {
    self.mirror = mirror
    self.status = status.read
    signals = process_signals_open()
    do throws(CommandFailure) {
      guard signals >= 0, process_adopt_orphans() == 0 else {
        throw CommandFailure(.inputOutput, "cannot watch over a program: \(Errno.current)")
      }
      run = ContainedProcess(bubblewrap: try Self.start(launch))
    } catch {
      mirror.remove()
      throw error
    }
    // While bubblewrap is at work: the program is not there yet. Without a witness a signal to the group comes twice, and
    // the program outlives us if we are killed; it stays contained.
    var channel: Int32 = -1
    let process = process_witness_start(&channel)
    witness = (process, channel)
    close(status.write)
    _ = fcntl(status.read, F_SETFL, O_NONBLOCK)
  }

  private static func start(_ launch: Launch) throws(CommandFailure) -> pid_t {
    var arguments = launch.arguments.map { strdup($0) } + [nil]
    var environment = launch.environment.map { strdup($0) } + [nil]
    let texts = launch.inHome.flatMap { [strdup($0.file.source), strdup($0.place)] } + [strdup(launch.home.path)]
    defer { for text in arguments + environment + texts { free(text) } }
    let mounts = launch.inHome.enumerated().map { index, one in
      home_mount(source: one.file.descriptor, source_path: texts[2 * index]!, place: texts[2 * index + 1]!)
    }
    var failure = start_failure()
    let process = mounts.withUnsafeBufferPointer { buffer in
      if buffer.isEmpty {
        return process_start(
          launch.program, &arguments, &environment, launch.descriptors, launch.descriptors.count, nil, &failure)
      }
      var home = composed_home(
        path: texts[texts.count - 1]!, descriptor: launch.home.descriptor, mounts: buffer.baseAddress,
        count: buffer.count)
      return process_start(
        launch.program, &arguments, &environment, launch.descriptors, launch.descriptors.count, &home, &failure)
    }
    if process > 0 { return process }
    let error = Errno(rawValue: failure.error)
    let step = failure.step.map { String(cString: $0) } ?? "start it"
    if step == "make a user namespace" { throw Bubblewrap.namespaceFailure(error) }
    guard failure.mount >= 0 else { throw CommandFailure(.unavailable, "cannot \(step): \(error)") }
    let one = launch.inHome[Int(failure.mount)]
    throw CommandFailure(
      .unavailable,
      "cannot \(step) \(TerminalText.escape(one.file.path)) in the container (\(TerminalText.escape(one.place))): \(error)"
    )
  }

  /// Waits for the end.
  /// - Returns: the exit code of the application, 128 and the signal's number for one that a signal ended.
  func wait() throws(CommandFailure) -> Int32 {
    var end: Int32?
    while end == nil {
      // Once bubblewrap has told its process, the rest of it can wait for the end.
      let status = run.first == nil ? status : -1
      var descriptors = [signals, status, mirror.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let count = poll(&descriptors, nfds_t(descriptors.count), waiting.isEmpty ? ReadMirror.interval : 5)
      if descriptors[2].revents != 0 {
        mirror.noticeChanges()
      } else if count <= 0 {
        mirror.startWatching()
        try? mirror.refresh()
      }
      if descriptors[1].revents != 0 { readStatus() }
      end = takeSignals()
    }
    readStatus()
    // Ends the witness, which finds nothing to kill.
    close(witness.channel)
    mirror.remove()
    var status: Int32 = 0
    if witness.process > 0 { while waitpid(witness.process, &status, 0) < 0, errno == EINTR {} }
    if end == -1 { throw Bubblewrap.failure() }
    return end ?? 0
  }

  private func readStatus() {
    guard status >= 0 else { return }
    _ = run.readStatus(status)
    if !isGuarded, let first = run.first {
      process_witness_guard(witness.channel, first)
      isGuarded = true
    }
  }
}

extension Supervisor {
  /// - Returns: the exit code at the end, -1 where the application never began; nil while it runs.
  private func takeSignals() -> Int32? {
    var signal = process_signal()
    var end: Int32?
    while process_signals_next(signals, &signal) {
      if signal.number == SIGCHLD {
        end = reap() ?? end
      } else {
        waiting.append(signal)
      }
    }
    if end != nil { return end }
    while let next = waiting.first {
      guard let application = run.application() else { break }
      waiting.removeFirst()
      handOn(next, application)
    }
    return nil
  }

  private func handOn(
    _ signal: process_signal, _ application: (process: pid_t, group: pid_t, state: UInt8)
  ) {
    // Asked each time, so that what the witness got is known for this signal alone.
    let ofGroup = process_witness_signals(witness.channel)
    let isTold = signal.is_from_kernel || (ofGroup >> UInt64(signal.number - 1)) & 1 == 1
    if !(isTold && application.group == getpgrp()), let first = run.first {
      _ = process_signal_child(application.process, first, signal.number)
    }
    if signal.number == SIGTSTP {
      // The shell takes the terminal back when we stop: not before the application has left it.
      for _ in 0..<40 where run.application().map({ $0.state != UInt8(ascii: "T") }) ?? false { usleep(5_000) }
      process_stop_self()
    }
  }

  /// Takes the exit codes of our children.
  private func reap() -> Int32? {
    var end: Int32?
    var status: Int32 = 0
    while true {
      let process = waitpid(-1, &status, WNOHANG)
      if process <= 0 { return end }
      let signal = status & 0x7f
      if process == run.first {
        end = signal == 0 ? (status >> 8) & 0xff : 128 + signal
      } else if process == run.bubblewrap {
        readStatus()
        if signal == 0 {
          end = run.toldExit ? (status >> 8) & 0xff : -1
        } else if run.application() == nil {
          // A signal to the group before the application was there; what waits for bubblewrap would wait for ever.
          run.killOrphans()
          end = 128 + signal
        }
        // Else a signal to the group ended it alone, and the namespace's first process is ours now.
      }
    }
  }
}
