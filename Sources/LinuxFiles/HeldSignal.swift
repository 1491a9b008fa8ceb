import Glibc

/// A signal that a call may bring upon its own thread, kept from it: writing to a pipe that nobody reads any more ends the
/// program by `SIGPIPE` otherwise, and what an application does with that signal is the application's.
enum HeldSignal {
  /// Does `body` with the signal held back, and takes away what came meanwhile. One that was waiting before stays.
  static func withHeld(_ signal: Int32, _ body: () -> Void) {
    var held = sigset_t()
    sigemptyset(&held)
    sigaddset(&held, signal)
    var pending = sigset_t()
    var before = sigset_t()
    guard sigpending(&pending) == 0, sigismember(&pending, signal) == 0, pthread_sigmask(SIG_BLOCK, &held, &before) == 0
    else { return body() }
    body()
    var now = timespec()
    while sigtimedwait(&held, nil, &now) < 0, errno == EINTR {}
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }
}
