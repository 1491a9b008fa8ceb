// Reads, sets, observations and closing, on many threads at once. Ends with 0 when nothing was lost or torn.
#include <managed_preferences.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { writers = 4, readers = 4, observers = 2 };

static mp_preferences *preferences;
static int rounds = 1000;
static atomic_int failures, calls, begun, ended;
static atomic_bool is_over;

static void fail(const char *what) {
  atomic_fetch_add(&failures, 1);
  fprintf(stderr, "threads.c: %s: %s\n", what, mp_error_message());
}

// Each writer has a key of its own, whose value it alone knows, and all share one.
static void *write_values(void *argument) {
  long number = (long)argument;
  char key[32], text[64];
  snprintf(key, sizeof key, "writer%ld", number);
  for (int i = 1; i <= rounds; i++) {
    int64_t found;
    if (mp_set_integer(preferences, key, i) != MP_OK) fail("set");
    if (mp_get_integer(preferences, key, &found) != MP_OK || found != i) fail("a value that was set is not read");
    // Two halves that have to match.
    snprintf(text, sizeof text, "%ld-%d/%ld-%d", number, i, number, i);
    if (mp_set_string(preferences, "shared", text) != MP_OK) fail("set string");
    bool flag;
    if (mp_get_bool(preferences, "", &flag) != MP_ERROR_KEY) fail("an empty key");
    if (strcmp(mp_error_message(), "mp_get_bool: the key is empty") != 0) fail("another thread's message");
  }
  // The observers may not have come to observing until now.
  for (int i = 1; number == 0 && atomic_load(&calls) == 0 && atomic_load(&failures) == 0; i++)
    if (mp_set_integer(preferences, "more", i) != MP_OK) fail("set more");
  return NULL;
}

static void *read_values(void *argument) {
  (void)argument;
  while (!atomic_load(&is_over)) {
    char *text;
    if (mp_get_string(preferences, "shared", &text, NULL) != MP_OK) fail("get string");
    if (text) {
      char *middle = strchr(text, '/');
      if (!middle || strlen(middle + 1) != (size_t)(middle - text) || strncmp(text, middle + 1, middle - text) != 0)
        fail("a torn string");
    }
    mp_free(text);
    bool is_forced;
    if (mp_is_forced(preferences, "AutoSaveInterval", &is_forced) != MP_OK || !is_forced) fail("forced");
    mp_value *everything;
    if (mp_get_dictionary_representation(preferences, &everything) != MP_OK) fail("dictionary");
    mp_value_release(everything);
    mp_preferences *another;
    if (mp_open(&another) != MP_OK) fail("open");
    mp_close(another);
  }
  return NULL;
}

static void note_change(const mp_change *change, void *user_data) {
  atomic_int *live = user_data;
  if (atomic_load(live) != 1) fail("a call after the end");
  if (change->key_count > 0 && !change->keys[0]) fail("no key");
  int64_t number;
  mp_get_integer(preferences, "writer0", &number);
  atomic_fetch_add(&calls, 1);
}

static void note_end(void *user_data) {
  atomic_int *live = user_data;
  if (atomic_exchange(live, 0) != 1) fail("ended twice");
  free(live);
  atomic_fetch_add(&ended, 1);
}

static void *observe(void *argument) {
  (void)argument;
  while (!atomic_load(&is_over)) {
    atomic_int *live = malloc(sizeof *live);
    atomic_init(live, 1);
    atomic_fetch_add(&begun, 1);
    mp_observation *observation;
    if (mp_observe(preferences, note_change, live, note_end, &observation) != MP_OK) fail("observe");
    int before = atomic_load(&calls);
    // At least one change comes while this one observes, as long as somebody writes.
    for (int i = 0; i < 1000 && atomic_load(&calls) == before && !atomic_load(&is_over); i++) {
      int64_t number;
      mp_get_integer(preferences, "writer0", &number);
    }
    mp_observation_cancel(observation);
  }
  return NULL;
}

int main(int argument_count, char **arguments) {
  if (argument_count > 1) rounds = atoi(arguments[1]);
  if (mp_set_application_identifier("org.example.Editor") != MP_OK || mp_open(&preferences) != MP_OK) fail("open");
  pthread_t writing[writers], reading[readers], observing[observers];
  for (long i = 0; i < observers; i++) pthread_create(&observing[i], NULL, observe, (void *)i);
  for (long i = 0; i < readers; i++) pthread_create(&reading[i], NULL, read_values, (void *)i);
  for (long i = 0; i < writers; i++) pthread_create(&writing[i], NULL, write_values, (void *)i);
  for (int i = 0; i < writers; i++) pthread_join(writing[i], NULL);
  atomic_store(&is_over, true);
  for (int i = 0; i < readers; i++) pthread_join(reading[i], NULL);
  for (int i = 0; i < observers; i++) pthread_join(observing[i], NULL);
  if (mp_synchronize(preferences) != MP_OK) fail("synchronize");
  mp_close(preferences);
  if (atomic_load(&begun) != atomic_load(&ended)) fail("an observation without its end");
  if (atomic_load(&calls) == 0) fail("nothing was observed");
  if (atomic_load(&failures) == 0) puts("right");
  return atomic_load(&failures) ? 1 : 0;
}
