// A contained program that tries to get out, by every way that comes to mind.
//
//   escape HOME FORCED OUTSIDE-PID ABSTRACT-SOCKET SECRET …
//
// It prints a line for each way: "refused WAY", or "REACHED WAY" where something outside answered. Whatever it can read it
// prints, so that the test finds the words that it planted outside. Its own files are its own: writing them is no escape.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int ways;

static void tell(const char *way, const char *what, int reached) {
  ways++;
  printf("%s %s %s\n", reached ? "REACHED" : "refused", way, what);
  fflush(stdout);
}

static int show(const char *path) {
  char bytes[4096];
  int file = open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return 0;
  ssize_t count = read(file, bytes, sizeof bytes);
  if (count > 0) fwrite(bytes, 1, (size_t)count, stdout);
  close(file);
  return count > 0;
}

static void read_secret(const char *secret, const char *home) {
  char path[8192], link[4096];
  static const char *before[] = {
      "", "/..", "/usr/..", "/etc/../usr/..", "/proc/self/root", "/proc/1/root", "/proc/2/root", "/proc/thread-self/root",
      "/proc/1/cwd/../../../../../..", "/proc/self/cwd/../../../../../../..", "/dev/fd/0/../../../../../..",
      "/oldroot", "/newroot", "/run/managed-preferences/read/../../..", "/run/managed-preferences/groups/../../.."};
  for (size_t index = 0; index < sizeof before / sizeof *before; index++) {
    snprintf(path, sizeof path, "%s%s", before[index], secret);
    tell("read", path, show(path));
  }
  // A link to it, at home and in a group.
  snprintf(link, sizeof link, "%s/planted", home);
  unlink(link);
  if (symlink(secret, link) == 0) tell("symbolic link", secret, show(link));
  snprintf(link, sizeof link, "%s/hard", home);
  tell("hard link", secret, link ? linkat(AT_FDCWD, secret, AT_FDCWD, link, AT_SYMLINK_FOLLOW) == 0 : 0);
  // Up from home.
  snprintf(path, sizeof path, "%s/../../../../../../../..%s", home, secret);
  tell("upwards", path, show(path));
}

static void read_processes(const char *secret) {
  DIR *all = opendir("/proc");
  struct dirent *entry;
  char path[8192];
  int seen = 0;
  while (all && (entry = readdir(all))) {
    int process = atoi(entry->d_name);
    if (process <= 0) continue;
    seen++;
    static const char *parts[] = {"root", "cwd"};
    for (int part = 0; part < 2; part++) {
      snprintf(path, sizeof path, "/proc/%d/%s%s", process, parts[part], secret);
      if (show(path)) tell("process", path, 1);
    }
    snprintf(path, sizeof path, "/proc/%d/environ", process);
    show(path);
    snprintf(path, sizeof path, "/proc/%d/cmdline", process);
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    DIR *open_files = opendir(path);
    struct dirent *one;
    while (open_files && (one = readdir(open_files))) {
      struct stat status;
      snprintf(path, sizeof path, "/proc/%d/fd/%s", process, one->d_name);
      if (one->d_name[0] == '.' || stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) continue;
      char target[4096] = "";
      if (readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "/proc", 5) == 0) continue;
      tell("open folder", path, 1);
    }
    if (open_files) closedir(open_files);
  }
  if (all) closedir(all);
  printf("processes %d\n", seen);
  for (int descriptor = 3; descriptor < 1024; descriptor++)
    if (fcntl(descriptor, F_GETFD) >= 0) tell("inherited descriptor", "", 1);
}

static int reaches_socket(const char *name, int is_abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int one = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  strncpy(address.sun_path + is_abstract, name, sizeof address.sun_path - 2);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name));
  int result = connect(one, (struct sockaddr *)&address, is_abstract ? length : sizeof address);
  close(one);
  return result == 0;
}

static void other_processes(pid_t outside) {
  char text[32];
  snprintf(text, sizeof text, "%d", outside);
  tell("kill", text, kill(outside, 0) == 0);
  tell("ptrace", text, ptrace(PTRACE_ATTACH, outside, 0, 0) == 0);
  struct iovec local = {text, sizeof text}, remote = {(void *)&ways, sizeof ways};
  tell("process_vm_readv", text, process_vm_readv(outside, &local, 1, &remote, 1, 0) > 0);
  tell("pidfd_open", text, syscall(434, outside, 0) >= 0);
}

static int in_child(int (*attempt)(void)) {
  pid_t child = fork();
  if (child == 0) _exit(attempt());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}
static int unshares_user(void) { return unshare(CLONE_NEWUSER) == 0; }
static int unshares_mounts(void) { return unshare(CLONE_NEWNS) == 0; }
static int changes_root(void) { return chroot("/tmp") == 0; }

static void namespaces(const char *forced) {
  tell("unshare", "user", in_child(unshares_user));
  tell("unshare", "mounts", in_child(unshares_mounts));
  tell("chroot", "/tmp", in_child(changes_root));
  long clone = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (clone == 0) _exit(0);
  tell("clone", "user", clone > 0);
  uint64_t arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  long clone3 = syscall(435, arguments, 88);
  if (clone3 == 0) _exit(0);
  tell("clone3", "user", clone3 > 0);
  static const char *names[] = {"user", "mnt", "pid", "net"};
  for (int index = 0; index < 4; index++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/1/ns/%s", names[index]);
    int space = open(path, O_RDONLY);
    // Its own it may enter, which changes nothing; that of the namespace's first process is the one above.
    tell("setns", path, space >= 0 && index != 2 && setns(space, 0) == 0 && index == 0);
    if (space >= 0) close(space);
  }
  tell("mount", "tmpfs over what is forced", mount("t", forced, "tmpfs", 0, NULL) == 0);
  tell("mount", "bind over what is forced", mount("/tmp", forced, NULL, MS_BIND, NULL) == 0);
  tell("mount", "remount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0);
  tell("umount", "/run/managed-preferences/read", umount2("/run/managed-preferences/read", MNT_DETACH) == 0);
  tell("pivot_root", "", syscall(SYS_pivot_root, "/tmp", "/tmp") == 0);
  tell("open_tree", "/", syscall(428, AT_FDCWD, "/", 1 | AT_RECURSIVE) >= 0);
  tell("fsopen", "tmpfs", syscall(430, "tmpfs", 0) >= 0);
}

static void tampering(const char *forced) {
  static const char *own[] = {
      "/run/managed-preferences/container", "/run/managed-preferences/new", "/run/managed-preferences/read/new",
      "/run/managed-preferences/groups/new", "/run/new", "/new", "/etc/new", "/usr/new", "/var/lib/new"};
  for (size_t index = 0; index < sizeof own / sizeof *own; index++) {
    chmod(own[index], 0666);
    int file = open(own[index], O_WRONLY | O_CREAT, 0666);
    tell("write", own[index], file >= 0);
    if (file >= 0) close(file);
    tell("remove", own[index], unlink(own[index]) == 0);
  }
  char path[4096], other[4096];
  static const char *names[] = {"forced", "generation", "new"};
  for (int index = 0; index < 3; index++) {
    snprintf(path, sizeof path, "%s/%s", forced, names[index]);
    snprintf(other, sizeof other, "%s/moved", forced);
    chmod(path, 0666);
    int file = open(path, O_WRONLY | O_CREAT, 0666);
    tell("write", path, file >= 0);
    if (file >= 0) close(file);
    tell("remove", path, unlink(path) == 0);
    tell("rename", path, rename(path, other) == 0);
  }
  tell("rename", forced, rename(forced, "/tmp/forced") == 0);
  tell("rename", "/run/managed-preferences", rename("/run/managed-preferences", "/run/other") == 0);
  tell("mknod", "/tmp/disk", mknod("/tmp/disk", S_IFBLK | 0666, 0xfe00) == 0);
  struct {
    struct file_handle handle;
    unsigned char bytes[128];
  } held = {.handle = {.handle_bytes = 128}};
  int mount_number;
  if (name_to_handle_at(AT_FDCWD, "/usr", &held.handle, &mount_number, 0) == 0) {
    int folder = open("/usr", O_RDONLY | O_DIRECTORY);
    tell("open_by_handle_at", "/usr", open_by_handle_at(folder, &held.handle, O_RDONLY) >= 0);
  }
}

static void system_calls(void) {
  tell("TIOCSTI", "", !(ioctl(0, TIOCSTI, "x") < 0 && errno == EPERM));
  tell("TIOCSTI", "with more bits", !(syscall(SYS_ioctl, 0, (1UL << 32) | TIOCSTI, "x") < 0 && errno == EPERM));
  tell("TIOCLINUX", "", !(ioctl(0, TIOCLINUX, "\3") < 0 && errno == EPERM));
  tell("add_key", "", !(syscall(SYS_add_key, "user", "n", "v", 1, -4) < 0 && errno == EPERM));
  tell("keyctl", "", !(syscall(SYS_keyctl, 0, -4, 0) < 0 && errno == EPERM));
  tell("request_key", "", !(syscall(SYS_request_key, "user", "n", 0, 0) < 0 && errno == EPERM));
#ifdef __x86_64__
  tell("x32", "getpid", !(syscall(0x40000000 | 39) < 0 && errno == EPERM));
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
  // A kernel without 32-bit programs ends the process instead.
  tell("32 bits", "getpid", (int)result != -EPERM && (int)result != -ENOSYS);
#endif
}

int main(int count, char **words) {
  if (count < 5) return 64;
  const char *home = words[1], *forced = words[2];
  // Somebody who changes these is led nowhere else.
  setenv("XDG_CONFIG_HOME", home, 1);
  setenv("XDG_RUNTIME_DIR", "/run", 1);
  setenv("MANAGED_PREFERENCES_ROOT", "/tmp", 1);
  for (int index = 5; index < count; index++) read_secret(words[index], home);
  for (int index = 5; index < count; index++) read_processes(words[index]);
  tell("abstract socket", words[4], reaches_socket(words[4], 1));
  for (int index = 5; index < count; index++) tell("socket", words[index], reaches_socket(words[index], 0));
  tell("session bus", "", getenv("DBUS_SESSION_BUS_ADDRESS") != NULL || reaches_socket("/run/dbus/system_bus_socket", 0));
  other_processes(atoi(words[3]));
  namespaces(forced);
  tampering(forced);
  system_calls();
  printf("tried %d ways\n", ways);
  return 0;
}
