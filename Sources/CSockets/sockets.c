#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static bool address_of(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  strcpy(address->sun_path, path);
  return true;
}

static int packet_socket(void) { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

static int closing(int descriptor) {
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int socket_connect(const char *path) {
  struct sockaddr_un address;
  if (!address_of(path, &address)) return -1;
  int descriptor = packet_socket();
  if (descriptor < 0) return -1;
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) return closing(descriptor);
  return descriptor;
}

int socket_listen(const char *path, mode_t mode) {
  struct sockaddr_un address;
  if (!address_of(path, &address)) return -1;
  int descriptor = packet_socket();
  if (descriptor < 0) return -1;
  // Whoever connects before the mode is set has waited for nothing: until `listen`, nobody can.
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, mode) != 0 ||
      listen(descriptor, SOMAXCONN) != 0)
    return closing(descriptor);
  return descriptor;
}

bool socket_is_listener(int descriptor) {
  int type = 0, listens = 0, domain = 0;
  socklen_t size = sizeof(int);
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) return false;
  size = sizeof(int);
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return false;
  size = sizeof(int);
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens) return false;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
}

int socket_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

ssize_t socket_send(int descriptor, const void *bytes, size_t count) {
  ssize_t sent;
  do sent = send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t socket_receive(int descriptor, void *bytes, size_t capacity) {
  ssize_t got;
  do got = recv(descriptor, bytes, capacity, MSG_DONTWAIT | MSG_TRUNC);
  while (got < 0 && errno == EINTR);
  return got;
}

bool socket_ask_peer(int descriptor, struct socket_peer *peer) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return false;
  peer->user = credentials.uid;
  peer->group = credentials.gid;
  peer->process = credentials.pid;
  peer->process_descriptor = -1;
  int held = -1;
  size = sizeof held;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &held, &size) == 0) peer->process_descriptor = held;
  return true;
}

int process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

bool socket_notify(const char *path, const char *text) {
  struct sockaddr_un address;
  if (!address_of(path, &address)) return false;
  if (path[0] == '@') address.sun_path[0] = 0;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
  ssize_t sent = sendto(
      descriptor, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, size);
  close(descriptor);
  return sent >= 0;
}

int signals_open(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int signals_next(int descriptor) {
  struct signalfd_siginfo signal;
  return read(descriptor, &signal, sizeof signal) == sizeof signal ? (int)signal.ssi_signo : 0;
}

int wakeup_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void wakeup_raise(int descriptor) {
  uint64_t one = 1;
  ssize_t written = write(descriptor, &one, sizeof one);
  (void)written;
}

void wakeup_clear(int descriptor) {
  uint64_t count;
  ssize_t got = read(descriptor, &count, sizeof count);
  (void)got;
}

bool files_as_user(uid_t user, gid_t group) {
  // Each call answers what held before; asking again with an id that can't be is how to learn what holds.
  setfsgid(group);
  setfsuid(user);
  return (gid_t)setfsgid((gid_t)-1) == group && (uid_t)setfsuid((uid_t)-1) == user;
}

bool clock_is_synchronized(void) {
  struct timex state = {.modes = 0};
  int result = adjtimex(&state);
  return result >= 0 && result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

uint64_t files_allow_all(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return limit.rlim_cur;
}

bool pipe_open(int ends[2], bool never_waits) { return pipe2(ends, O_CLOEXEC | (never_waits ? O_NONBLOCK : 0)) == 0; }
