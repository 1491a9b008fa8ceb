// What a user would pick instead of an audit log of ours, and the limit, over the very bytes of a log that we wrote.
//
//   audit sqlite LOG DATABASE LABEL RECORDS   inserts the log's lines and personal parts, a transaction each so many records,
//                                             durably: WAL, synchronous=FULL. No chain, no digests.
//   audit digest LOG LABEL                    bare libcrypto: SHA-256 of each line and of each personal part
//   audit journal LABEL                       sd_journal_send, to whoever reads /run/systemd/journal/socket
//   audit drain SOCKET                        reads datagrams as journald does, and forgets them
#include "timing.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

struct text {
  char *bytes;
  size_t count;
};

static void fail(const char *what) {
  fprintf(stderr, "audit: %s: %s\n", what, strerror(errno));
  exit(1);
}

// All files of a log with an ending, in the order of their names, as one text.
static struct text read_all(const char *folder, const char *ending) {
  struct dirent **names;
  struct text all = {malloc(1), 0};
  int count = scandir(folder, &names, NULL, alphasort);
  if (count < 0) fail(folder);
  for (int i = 0; i < count; i++) {
    const char *name = names[i]->d_name;
    if (strlen(name) < strlen(ending) || strcmp(name + strlen(name) - strlen(ending), ending)) continue;
    char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status)) fail(path);
    all.bytes = realloc(all.bytes, all.count + status.st_size + 1);
    for (ssize_t got; (got = read(file, all.bytes + all.count, status.st_size)) > 0;) all.count += got;
    close(file);
  }
  return all;
}

struct interval {
  double start, work;
};

static struct interval begin(void) { return (struct interval){now_nanoseconds(), processor_nanoseconds()}; }

// Two rows: the time since then, and what of the processors it took; both for one of so many nanoseconds or records.
static void end(struct interval since, const char *label, double divisor, const char *unit) {
  double time = (now_nanoseconds() - since.start) / divisor, work = (processor_nanoseconds() - since.work) / divisor;
  char name[200];
  snprintf(name, sizeof name, "%s, processor", label);
  report(label, &time, 1, unit);
  report(name, &work, 1, unit);
}

static char *line_end(struct text text, char *from) { return memchr(from, '\n', text.bytes + text.count - from); }

static void insert_all(const char *folder, const char *path, const char *label, int batch) {
  struct text lines = read_all(folder, ".jsonl"), parts = read_all(folder, ".personal");
  sqlite3 *database;
  sqlite3_stmt *insert;
  if (sqlite3_open(path, &database)) fail(path);
  if (sqlite3_exec(database,
                   "pragma journal_mode=wal; pragma synchronous=full;"
                   "create table log (seq integer primary key, line text, personal text)",
                   NULL, NULL, NULL))
    fail(path);
  sqlite3_prepare_v2(database, "insert into log values (?1, ?2, ?3)", -1, &insert, NULL);
  char *part = parts.bytes;
  int number = 0;
  struct interval interval = begin();
  for (char *line = lines.bytes, *stop; line < lines.bytes + lines.count && (stop = line_end(lines, line)); line = stop + 1) {
    if (number % batch == 0) sqlite3_exec(database, "begin", NULL, NULL, NULL);
    sqlite3_bind_int(insert, 1, ++number);
    sqlite3_bind_text(insert, 2, line, (int)(stop - line), SQLITE_STATIC);
    // Lines with a personal part name its digest third; each part is stored with its record.
    if (memmem(line, 110 < stop - line ? 110 : stop - line, "\"personal\":", 11) && part < parts.bytes + parts.count) {
      char *part_end = line_end(parts, part);
      sqlite3_bind_text(insert, 3, part, (int)(part_end - part), SQLITE_STATIC);
      part = part_end + 1;
    } else {
      sqlite3_bind_null(insert, 3);
    }
    if (sqlite3_step(insert) != SQLITE_DONE) fail(sqlite3_errmsg(database));
    sqlite3_reset(insert);
    if (number % batch == 0 && sqlite3_exec(database, "commit", NULL, NULL, NULL)) fail("commit");
  }
  if (number % batch != 0) sqlite3_exec(database, "commit", NULL, NULL, NULL);
  end(interval, label, number * 1000.0, "µs");
  sqlite3_finalize(insert);
  sqlite3_close(database);
}

static void digest_lines(EVP_MD_CTX *context, EVP_MD *algorithm, struct text text) {
  unsigned char digest[32];
  for (char *line = text.bytes, *end; line < text.bytes + text.count && (end = line_end(text, line)); line = end + 1) {
    if (!EVP_DigestInit_ex(context, algorithm, NULL) || !EVP_DigestUpdate(context, line, end - line)
        || !EVP_DigestFinal_ex(context, digest, NULL))
      fail("digest");
    result_sink += digest[0];
  }
}

static void digest_all(const char *folder, const char *label) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  EVP_MD *algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
  struct text lines = read_all(folder, ".jsonl"), parts = read_all(folder, ".personal");
  struct interval interval = begin();
  digest_lines(context, algorithm, lines);
  digest_lines(context, algorithm, parts);
  end(interval, label, 1e6, "ms");
}

static void send_all(const char *label) {
  enum { count = 20000 };
  int failures = 0;
  struct interval interval = begin();
  for (int i = 0; i < count; i++)
    failures += sd_journal_send("MESSAGE=forced.write SafeBrowsingPolicy.Key%d", i % 10000, "PRIORITY=6", "SEQ=%d", i,
                                "HOST=benchmark", "KIND=forced.write", "DOMAIN=org.benchmark.policy",
                                "KEY=SafeBrowsingPolicy.Key%d", i % 10000, "OPERATION=set", "GENERATION=7", "COUNT=1",
                                "CLAIMED_UID=1000", "CLAIMED_PID=4711", "CLAIMED_EXE=/usr/bin/editor", NULL) < 0;
  if (failures) fail("sd_journal_send");
  end(interval, label, count * 1000.0, "µs");
}

// As journald: a large buffer, and with each datagram its sender's credentials.
static void drain(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int room = 8 << 20, on = 1, file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  if (file < 0 || bind(file, (struct sockaddr *)&address, sizeof address)) fail(path);
  setsockopt(file, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(file, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  static char bytes[1 << 16], control[4096];
  for (;;) {
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(file, &message, 0) < 0 && errno != EINTR) fail("recvmsg");
  }
}

int main(int count, char **words) {
  if (count == 6 && !strcmp(words[1], "sqlite")) insert_all(words[2], words[3], words[4], atoi(words[5]));
  else if (count == 4 && !strcmp(words[1], "digest")) digest_all(words[2], words[3]);
  else if (count == 3 && !strcmp(words[1], "journal")) send_all(words[2]);
  else if (count == 3 && !strcmp(words[1], "drain")) drain(words[2]);
  else return 64;
  return 0;
}
