// Starting and watching a program: what Swift can't call (fork, and all that has to happen between it and exec), and what
// the toolchain's module of the C library leaves out (signalfd, pidfd, memfd, mount, unshare).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One thing that is laid over a place in a home.
struct home_mount {
  /// What it is: an O_PATH descriptor, and its path without any link. What is mounted is what the descriptor holds.
  int source;
  const char *_Nonnull source_path;
  /// Where: a path below the home without `.` and `..`.
  const char *_Nonnull place;
};

/// A home with other things laid over places in it, in a mount namespace that only the program sees.
///
/// Somebody may be changing the home meanwhile, and may have planted links in it. So each component of a place is opened
/// below the one before with no link followed, what is missing is made there, and the mount is made on the descriptor that
/// came of it: whatever then happens to names, it stays below the home.
struct composed_home {
  const char *_Nonnull path;
  int descriptor;
  const struct home_mount *_Nullable mounts;
  size_t count;
};

/// Why a program did not start.
struct start_failure {
  /// A word for what failed: "fork", "execute", "make a user namespace", "open the place of" …
  const char *_Nullable step;
  int error;
  /// Index of the mount that it was about; -1 for none.
  int mount;
};

/// Starts a program. It gets the standard streams, the descriptors that are named, and the signal mask that this process
/// had at first; nothing else.
///
/// - Returns: its id, or -1 with `failure` filled in.
pid_t process_start(
    const char *_Nonnull program, char *_Nullable const *_Nonnull arguments, char *_Nullable const *_Nonnull environment,
    const int *_Nonnull inherited, size_t inherited_count, const struct composed_home *_Nullable home,
    struct start_failure *_Nonnull failure);

/// Marks every descriptor from `first` on as closed at exec: what our caller left open does not go further.
void process_close_at_exec(int first);

/// Makes orphans among our descendants our children, and nobody else's.
int process_adopt_orphans(void);

/// A signal that came to this process.
struct process_signal {
  int number;
  /// Whether the kernel sent it, such as a terminal for its Ctrl-C: then every process of the group has it.
  bool is_from_kernel;
};

/// Blocks the signals that are forwarded, and SIGCHLD; they are read from the descriptor that is returned, or -1.
int process_signals_open(void);
/// The next signal; false where there is none.
bool process_signals_next(int descriptor, struct process_signal *_Nonnull signal);
/// Stops this process as the signal that it read would have.
void process_stop_self(void);

/// Starts the witness: a process of our group that blocks all signals and does nothing but answer which of them it got,
/// and kill `process_witness_guard`'s process when this process is gone.
///
/// - Returns: its id, with its socket in `channel`; -1 for none.
pid_t process_witness_start(int *_Nonnull channel);
void process_witness_guard(int channel, pid_t process);
/// The signals, as bits 1 << (number - 1), that the whole group got since the last call.
uint64_t process_witness_signals(int channel);

/// Sends a signal to a process, through a descriptor where the kernel has them, if `parent` is (still) its parent.
bool process_signal_child(pid_t process, pid_t parent, int number);

/// The parent of a process, its group, its state as /proc shows it and when it started; false where it is gone.
bool process_inspect(
    pid_t process, pid_t *_Nonnull parent, pid_t *_Nonnull group, char *_Nonnull state, uint64_t *_Nonnull started);

/// A file in memory with these bytes, open at its beginning and closed at exec; -1 where there is none.
int process_memory_file(const void *_Nonnull bytes, size_t count);

/// Holds a file or folder, whatever its permissions, without following a link as the last component; -1 with errno.
int process_hold(const char *_Nonnull path);

/// 0 where this user may make a user namespace, else the error number.
int process_try_user_namespace(void);
