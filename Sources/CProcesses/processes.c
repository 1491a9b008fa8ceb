#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Not in every libc's headers yet; the numbers are the same on all architectures that Linux has had since 5.1.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_AT_EXEC (1U << 2)  // CLOSE_RANGE_CLOEXEC

static sigset_t first_mask;
static bool is_first_mask_known;

// What the kernel can't do in one call (before 5.11) is done for each descriptor that could be open.
static void each_descriptor(int first, bool close_now) {
  if (syscall(SYS_close_range, first, ~0U, close_now ? 0 : CLOSE_AT_EXEC) == 0) return;
  long limit = sysconf(_SC_OPEN_MAX);
  if (limit < 0 || limit > 1 << 20) limit = 1 << 20;
  for (int descriptor = first; descriptor < limit; descriptor++) {
    if (close_now) {
      close(descriptor);
    } else {
      fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
  }
}

void process_close_at_exec(int first) { each_descriptor(first, false); }

int process_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// Between fork and exec: system calls only.

static int write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int error = errno;
  close(file);
  errno = error;
  return written < 0 ? -1 : 0;
}

static bool is_same_file(int one, int other) {
  struct stat a, b;
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Opens the place below the directory, making what is missing; only real directories are passed.
static int open_place(int directory, const char *place, bool is_directory) {
  char name[NAME_MAX + 1];
  int at = dup(directory);
  while (at >= 0) {
    const char *end = strchrnul(place, '/');
    size_t length = (size_t)(end - place);
    if (length == 0 || length > NAME_MAX) {
      errno = ENAMETOOLONG;
      break;
    }
    memcpy(name, place, length);
    name[length] = 0;
    bool is_last = *end == 0;
    int made = 0;
    if (!is_last || is_directory) {
      made = mkdirat(at, name, 0700);
    } else {
      int file = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (file < 0) {
        made = -1;
      } else {
        close(file);
      }
    }
    if (made != 0 && errno != EEXIST) break;
    int next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) break;
    struct stat status;
    if (fstat(next, &status) != 0) {
      close(next);
      break;
    }
    if (!is_last || is_directory ? !S_ISDIR(status.st_mode) : !S_ISREG(status.st_mode)) {
      close(next);
      errno = S_ISLNK(status.st_mode) ? ELOOP : !is_last || is_directory ? ENOTDIR : EISDIR;
      break;
    }
    close(at);
    if (is_last) return next;
    at = next;
    place = end + 1;
  }
  if (at >= 0) {
    int error = errno;
    close(at);
    errno = error;
  }
  return -1;
}

static int fail(struct start_failure *failure, const char *step, int mount) {
  failure->step = step;
  failure->error = errno;
  failure->mount = mount;
  return -1;
}

static int compose(const struct composed_home *home, struct start_failure *failure) {
  char map[64], from[64], to[64];
  uid_t user = geteuid();
  gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return fail(failure, "make a user namespace", -1);
  // Without this the kernel lets nobody but root say which group is which.
  if (write_file("/proc/self/setgroups", "deny") != 0) return fail(failure, "map groups", -1);
  snprintf(map, sizeof map, "%u %u 1\n", user, user);
  if (write_file("/proc/self/uid_map", map) != 0) return fail(failure, "map users", -1);
  snprintf(map, sizeof map, "%u %u 1\n", group, group);
  if (write_file("/proc/self/gid_map", map) != 0) return fail(failure, "map groups", -1);
  if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return fail(failure, "keep mounts apart", -1);
  if (mount(home->path, home->path, NULL, MS_BIND | MS_REC, NULL) != 0) return fail(failure, "mount the home", -1);
  int directory = open(home->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return fail(failure, "open the home", -1);
  if (!is_same_file(directory, home->descriptor)) {
    errno = ESTALE;
    return fail(failure, "open the home", -1);
  }
  for (size_t index = 0; index < home->count; index++) {
    const struct home_mount *one = &home->mounts[index];
    // The descriptor belongs to the mount namespace that we left, and can't be mounted from; its path leads to the same
    // file here, or to one that we refuse.
    int source = open(one->source_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (source < 0) return fail(failure, "open", (int)index);
    struct stat status;
    if (fstat(source, &status) != 0 || !is_same_file(source, one->source)) {
      errno = ESTALE;
      return fail(failure, "open", (int)index);
    }
    int place = open_place(directory, one->place, S_ISDIR(status.st_mode));
    if (place < 0) return fail(failure, "open the place of", (int)index);
    snprintf(from, sizeof from, "/proc/self/fd/%d", source);
    snprintf(to, sizeof to, "/proc/self/fd/%d", place);
    if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) != 0) return fail(failure, "mount", (int)index);
    close(source);
    close(place);
  }
  close(directory);
  return 0;
}

pid_t process_start(
    const char *program, char *const *arguments, char *const *environment, const int *inherited,
    size_t inherited_count, const struct composed_home *home, struct start_failure *failure) {
  int report[2];
  failure->mount = -1;
  if (pipe2(report, O_CLOEXEC) != 0) return fail(failure, "make a pipe", -1);
  // Without a copy of our memory where that goes: who makes a user namespace may share none.
  pid_t child = home == NULL ? vfork() : fork();
  if (child < 0) {
    fail(failure, "fork", -1);
    close(report[0]);
    close(report[1]);
    return -1;
  }
  if (child == 0) {
    struct start_failure reason = {0};
    // The address of a string literal is the same in parent and child.
    if (home == NULL || compose(home, &reason) == 0) {
      for (size_t index = 0; index < inherited_count; index++) fcntl(inherited[index], F_SETFD, 0);
      if (is_first_mask_known) sigprocmask(SIG_SETMASK, &first_mask, NULL);
      execve(program, arguments, environment);
      fail(&reason, "execute", -1);
    }
    if (write(report[1], &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
  }
  close(report[1]);
  ssize_t count;
  do count = read(report[0], failure, sizeof *failure);
  while (count < 0 && errno == EINTR);
  close(report[0]);
  if (count <= 0) return child;
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return -1;
}

// Signals.

static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP, SIGALRM};

int process_signals_open(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (size_t index = 0; index < sizeof forwarded / sizeof *forwarded; index++) sigaddset(&set, forwarded[index]);
  // A caller that ignores its children's end would have ours waited for by nobody.
  signal(SIGCHLD, SIG_DFL);
  if (sigprocmask(SIG_BLOCK, &set, &first_mask) != 0) return -1;
  is_first_mask_known = true;
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool process_signals_next(int descriptor, struct process_signal *got) {
  struct signalfd_siginfo info;
  if (read(descriptor, &info, sizeof info) != (ssize_t)sizeof info) return false;
  got->number = (int)info.ssi_signo;
  got->is_from_kernel = info.ssi_code > 0;
  return true;
}

void process_stop_self(void) { kill(getpid(), SIGSTOP); }

// The witness.

static int send_signal(pid_t process, int descriptor, int number) {
  if (descriptor >= 0) return (int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0);
  return kill(process, number);
}

static _Noreturn void witness(int channel) {
  // Nothing of ours may stay open in it: whoever reads our output waits for its end.
  if (dup2(channel, 0) < 0) _exit(1);
  each_descriptor(1, true);
  sigset_t all;
  sigfillset(&all);
  pid_t guarded = 0;
  int descriptor = -1;
  struct timespec now = {0, 0};
  for (;;) {
    pid_t message;
    ssize_t count = read(0, &message, sizeof message);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (message > 0) {
      guarded = message;
      descriptor = (int)syscall(SYS_pidfd_open, guarded, 0);
    } else {
      uint64_t signals = 0;
      int number;
      while ((number = sigtimedwait(&all, NULL, &now)) > 0) signals |= 1ULL << (number - 1);
      if (write(0, &signals, sizeof signals) < 0) break;
    }
  }
  if (guarded > 0) send_signal(guarded, descriptor, SIGKILL);
  _exit(0);
}

pid_t process_witness_start(int *channel) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  sigset_t all, before;
  sigfillset(&all);
  // From its first moment on.
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_t child = fork();
  if (child == 0) witness(ends[1]);
  sigprocmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return -1;
  }
  *channel = ends[0];
  return child;
}

void process_witness_guard(int channel, pid_t process) { send(channel, &process, sizeof process, MSG_NOSIGNAL); }

uint64_t process_witness_signals(int channel) {
  pid_t question = 0;
  uint64_t signals = 0;
  if (send(channel, &question, sizeof question, MSG_NOSIGNAL) < 0) return 0;
  // It may be stopped, or somebody may have killed it: then nothing is known of the group.
  struct pollfd waiting = {channel, POLLIN, 0};
  if (poll(&waiting, 1, 100) != 1 || recv(channel, &signals, sizeof signals, 0) != (ssize_t)sizeof signals) return 0;
  return signals;
}

// Other processes.

bool process_inspect(pid_t process, pid_t *parent, pid_t *group, char *state, uint64_t *started) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return false;
  text[count] = 0;
  // The name, which stands second in brackets, may hold anything.
  char *rest = strrchr(text, ')');
  unsigned long long start;
  int above, its_group;
  if (rest == NULL) return false;
  if (sscanf(
          rest + 1, " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", state, &above,
          &its_group, &start) != 4)
    return false;
  *parent = above;
  *group = its_group;
  *started = start;
  return true;
}

bool process_signal_child(pid_t process, pid_t parent, int number) {
  int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
  pid_t above, group;
  char state;
  uint64_t started;
  // Looked at after the descriptor was opened, so that it is no other process of the same number.
  bool is_sent = process_inspect(process, &above, &group, &state, &started) && above == parent &&
                send_signal(process, descriptor, number) == 0;
  if (descriptor >= 0) close(descriptor);
  return is_sent;
}

int process_memory_file(const void *bytes, size_t count) {
  int file = memfd_create("policyctl", MFD_CLOEXEC);
  if (file < 0) return -1;
  for (size_t done = 0; done < count;) {
    ssize_t written = write(file, (const char *)bytes + done, count - done);
    if (written < 0 && errno != EINTR) {
      close(file);
      return -1;
    }
    if (written > 0) done += (size_t)written;
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

int process_hold(const char *path) { return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC); }

int process_try_user_namespace(void) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : errno);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}
