// The limit of the synced store between machines: the statements of UbiquitousStorePostgreSQL (Statement.swift), sent by a bare
// loop over libpq, in one round trip for each push as there; and how soon another connection is notified.
//
//   libpq-changes SERVICE
#include "timing.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

static const char *put =
    "INSERT INTO ubiquitous_store.records (store, key, value, milliseconds, counter, device)"
    " SELECT $1, offered.* FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::integer[], $6::uuid[])"
    " AS offered (key, value, milliseconds, counter, device)"
    " WHERE offered.milliseconds <= ubiquitous_store.latest_milliseconds()"
    " ON CONFLICT (account, store, key) DO UPDATE SET value = excluded.value, milliseconds = excluded.milliseconds,"
    " counter = excluded.counter, device = excluded.device";
static const char *outcomes =
    "SELECT offered.number, pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint,"
    " standing.milliseconds, standing.counter, standing.device, newer.*, CASE WHEN newer.is_newer THEN standing.value END"
    " FROM unnest($2::bytea[], $3::bigint[], $4::integer[], $5::uuid[]) WITH ORDINALITY"
    " AS offered (key, milliseconds, counter, device, number)"
    " LEFT JOIN ubiquitous_store.records AS standing"
    " ON standing.account = session_user AND standing.store = $1 AND standing.key = offered.key"
    " CROSS JOIN LATERAL (SELECT coalesce((standing.milliseconds, standing.counter, standing.device)"
    " > (offered.milliseconds, offered.counter, offered.device), false) AS is_newer) AS newer"
    " WHERE standing.key IS NULL OR (standing.milliseconds, standing.counter, standing.device)"
    " <> (offered.milliseconds, offered.counter, offered.device)";

static void fail(PGconn *connection) {
  fprintf(stderr, "libpq-changes: %s", PQerrorMessage(connection));
  exit(1);
}

static PGconn *connect_to(const char *service) {
  char text[300];
  snprintf(text, sizeof text, "service=%s client_encoding=UTF8", service);
  PGconn *connection = PQconnectdb(text);
  if (PQstatus(connection) != CONNECTION_OK) fail(connection);
  return connection;
}

static char *ask(PGconn *connection, const char *text) {
  PGresult *result = PQexec(connection, text);
  if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK) fail(connection);
  char *answer = PQntuples(result) ? strdup(PQgetvalue(result, 0, 0)) : NULL;
  PQclear(result);
  return answer;
}

// A binary array of one dimension.
struct array {
  char bytes[16384];
  int length;
};
static void append_32(struct array *array, uint32_t number) {
  number = __builtin_bswap32(number);
  memcpy(array->bytes + array->length, &number, 4);
  array->length += 4;
}
static void begin(struct array *array, uint32_t type, int count) {
  array->length = 0;
  uint32_t head[5] = {1, 0, type, (uint32_t)count, 1};
  for (int i = 0; i < 5; i++) append_32(array, head[i]);
}
static void append(struct array *array, const void *bytes, int length) {
  append_32(array, (uint32_t)length);
  memcpy(array->bytes + array->length, bytes, (size_t)length);
  array->length += length;
}

static int64_t stamp;
static void change(PGconn *connection, int count) {
  static struct array keys, values, times, counters, devices;
  char value[64], device[16] = {1};
  memset(value, 7, sizeof value);
  stamp++;
  int64_t time = (int64_t)__builtin_bswap64((uint64_t)stamp);
  int32_t counter = 0;
  begin(&keys, 17, count), begin(&values, 17, count), begin(&times, 20, count), begin(&counters, 23, count);
  begin(&devices, 2950, count);
  for (int i = 0; i < count; i++) {
    char key[32];
    append(&keys, key, snprintf(key, sizeof key, "key %d", i));
    append(&values, value, sizeof value), append(&times, &time, 8), append(&counters, &counter, 4);
    append(&devices, device, 16);
  }
  const char *store = "org.benchmark.peer";
  const char *offered[] = {store, keys.bytes, values.bytes, times.bytes, counters.bytes, devices.bytes};
  int lengths[] = {18, keys.length, values.length, times.length, counters.length, devices.length};
  const char *asked[] = {store, keys.bytes, times.bytes, counters.bytes, devices.bytes};
  int asked_lengths[] = {18, keys.length, times.length, counters.length, devices.length};
  int binary[] = {1, 1, 1, 1, 1, 1};
  if (!PQsendQueryPrepared(connection, "put", 6, offered, lengths, binary, 1)) fail(connection);
  if (!PQsendQueryPrepared(connection, "outcomes", 5, asked, asked_lengths, binary, 1)) fail(connection);
  if (!PQpipelineSync(connection)) fail(connection);
  for (;;) {
    PGresult *result = PQgetResult(connection);
    if (!result) continue;
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK && PQntuples(result)) fprintf(stderr, "not taken\n"), exit(1);
    PQclear(result);
    if (status == PGRES_PIPELINE_SYNC) return;
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) fail(connection);
  }
}

static _Atomic double notified;
static void *watch(void *context) {
  PGconn *connection = context;
  struct pollfd watched = {PQsocket(connection), POLLIN, 0};
  for (;;) {
    poll(&watched, 1, -1);
    if (!PQconsumeInput(connection)) fail(connection);
    PGnotify *hint;
    while ((hint = PQnotifies(connection))) {
      notified = now_nanoseconds() / 1e3;
      PQfreemem(hint);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 2) return 64;
  PGconn *writing = connect_to(argv[1]), *watching = connect_to(argv[1]);
  ask(writing, "SELECT ubiquitous_store.open_account()");
  char listen[100];
  snprintf(listen, sizeof listen, "LISTEN %s",
           ask(watching, "SELECT ubiquitous_store.channel(channel_secret, 'org.benchmark.peer') FROM "
                         "ubiquitous_store.accounts WHERE account = session_user"));
  PQclear(PQprepare(writing, "put", put, 0, NULL));
  PQclear(PQprepare(writing, "outcomes", outcomes, 0, NULL));
  if (!PQenterPipelineMode(writing)) fail(writing);
  stamp = (int64_t)(now_nanoseconds() / 1e6);

  static double values[1000];
  int counts[] = {1, 100}, repetitions[] = {200, 20};
  for (int kind = 0; kind < 2; kind++) {
    change(writing, counts[kind]);
    for (int i = 0; i < repetitions[kind]; i++) {
      double start = now_nanoseconds();
      change(writing, counts[kind]);
      values[i] = (now_nanoseconds() - start) / 1e3 / counts[kind];
    }
    char name[100];
    snprintf(name, sizeof name, "libpq loop, a change, %d in a push", counts[kind]);
    report(name, values, repetitions[kind], "us");
  }
  ask(watching, listen);
  pthread_t thread;
  pthread_create(&thread, NULL, watch, watching);
  for (int i = 0; i < 100; i++) {
    notified = 0;
    double start = now_nanoseconds() / 1e3;
    change(writing, 1);
    while (notified == 0) usleep(50);
    values[i] = notified - start;
  }
  report("libpq loop, change to notified", values, 100, "us");
  return 0;
}
