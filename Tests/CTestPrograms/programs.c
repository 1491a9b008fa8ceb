#define _GNU_SOURCE
#include "programs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int test_program_start(
    pid_t *child, const char *path, char *const words[], char *const variables[], const char *folder,
    const int descriptors[4]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  // A thread of the test runner may have signals blocked that the program waits for.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  error = posix_spawnattr_setsigmask(&attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(&attributes, &all);
  if (!error) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (!error && folder) error = posix_spawn_file_actions_addchdir_np(&actions, folder);
  int next = 0;
  for (; next < 4 && descriptors[next] >= 0 && !error; next++)
    error = posix_spawn_file_actions_adddup2(&actions, descriptors[next], next);
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, next);
  if (!error) error = posix_spawn(child, path, &actions, &attributes, words, variables);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int test_program_channel(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

int test_program_kept(void) { return memfd_create("standard error", MFD_CLOEXEC); }

int test_program_wait(pid_t child, int milliseconds, int *status) {
  int handle = (int)syscall(SYS_pidfd_open, child, 0);
  // Where the kernel has no such handles, the end is waited for without a limit.
  if (handle >= 0) {
    struct pollfd ended = {.fd = handle, .events = POLLIN};
    int count = poll(&ended, 1, milliseconds);
    close(handle);
    if (count == 0) return 0;
  }
  pid_t found;
  do found = waitpid(child, status, 0);
  while (found < 0 && errno == EINTR);
  return found == child ? 1 : -1;
}

static void (*at_last)(void);
static pid_t at_last_in;

void test_program_at_last(void (*function)(void)) {
  at_last = function;
  at_last_in = getpid();
}

__attribute__((destructor)) static void end(void) {
  // Not in a child that was forked.
  if (at_last && getpid() == at_last_in) at_last();
}
