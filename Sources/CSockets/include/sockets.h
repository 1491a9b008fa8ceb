// What an agent needs of the kernel and the toolchain's module of the C library leaves out: sockets of whole packets with
// their peers' credentials, signals as a descriptor, file access as another user, the state of the clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A socket of whole packets (AF_UNIX, SOCK_SEQPACKET) that never waits, connected to a path of at most 107 bytes; -1 with
/// errno.
int socket_connect(const char *_Nonnull path);

/// The same, listening at a path that nothing is at yet. The file gets `mode`, whatever the umask.
int socket_listen(const char *_Nonnull path, mode_t mode);

/// Whether a descriptor that was handed over is a listening socket of whole packets; then it never waits from here on.
bool socket_is_listener(int descriptor);

/// The next connection, which never waits; -1 with errno.
int socket_accept(int listener);

/// Sends one packet, or fails: EAGAIN where the peer does not read, EPIPE without a signal where it is gone.
ssize_t socket_send(int descriptor, const void *_Nonnull bytes, size_t count);

/// Receives one packet: its true length, also where that is more than `capacity` (the rest of it is lost); 0 at the end;
/// -1 with errno. Descriptors that come with it are closed by the kernel.
ssize_t socket_receive(int descriptor, void *_Nonnull bytes, size_t capacity);

/// Who connected, by the kernel's word at that moment.
struct socket_peer {
  uid_t user;
  gid_t group;
  pid_t process;
  /// Holds the very process; -1 where the kernel has no such thing (before 6.5) or the process is gone.
  int process_descriptor;
};
bool socket_ask_peer(int descriptor, struct socket_peer *_Nonnull peer);

/// Holds a process by its id; -1 with errno.
int process_descriptor(pid_t process);

/// Sends one datagram to the path (or, after `@`, the abstract name) that a service manager listens at.
bool socket_notify(const char *_Nonnull path, const char *_Nonnull text);

/// Blocks SIGTERM, SIGINT, SIGHUP for this thread and those that it makes; they are read from the descriptor, or -1.
int signals_open(void);
/// The number of the next signal; 0 for none.
int signals_next(int descriptor);

/// A pipe whose ends are close-on-exec from the first moment on, so that no program that another thread starts meanwhile gets
/// them; with `never_waits`, neither reading nor writing waits.
/// - Returns: whether there is one; else errno.
bool pipe_open(int ends[_Nonnull 2], bool never_waits);

/// A counter that is readable while it is not 0; -1 with errno.
int wakeup_open(void);
void wakeup_raise(int descriptor);
void wakeup_clear(int descriptor);

/// From now on the calling thread's access to files is judged as that of another user, as if it were no root's.
/// - Returns: whether that holds.
bool files_as_user(uid_t user, gid_t group);

/// Whether the kernel's clock is said to be synchronised with another.
bool clock_is_synchronized(void);

/// Allows this process as many open files as it may have.
/// - Returns: that number.
uint64_t files_allow_all(void);
