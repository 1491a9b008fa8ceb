// dconf and GSettings over a locked database of KEYS keys; run with DCONF_PROFILE and GSETTINGS_SCHEMA_DIR set.
//   dconf-reads KEYS
#include "timing.h"
#include <dconf.h>
#include <gio/gio.h>

static DConfClient *client;
static GSettings *settings;
static const char *kinds[] = {"bool", "integer", "string"};

struct keys {
  int kind, count;
  char **paths, **names;
};

static uint64_t digest(GVariant *value, int kind) {
  if (!value) abort();
  uint64_t result = kind == 0   ? (uint64_t)g_variant_get_boolean(value)
                    : kind == 1 ? (uint64_t)g_variant_get_int32(value)
                                : (uint64_t)g_variant_get_string(value, NULL)[0];
  g_variant_unref(value);
  return result;
}

static uint64_t read_dconf(void *context, long iterations) {
  struct keys *keys = context;
  uint64_t sum = 0;
  for (long i = 0, j = 0; i < iterations; i++) {
    sum += digest(dconf_client_read(client, keys->paths[j]), keys->kind);
    if (++j == keys->count) j = 0;
  }
  return sum;
}

static uint64_t read_gsettings(void *context, long iterations) {
  struct keys *keys = context;
  uint64_t sum = 0;
  for (long i = 0, j = 0; i < iterations; i++) {
    sum += digest(g_settings_get_value(settings, keys->names[j]), keys->kind);
    if (++j == keys->count) j = 0;
  }
  return sum;
}

static uint64_t ask_dconf_writable(void *context, long iterations) {
  struct keys *keys = context;
  for (long i = 0, j = 0; i < iterations; i++) {
    if (dconf_client_is_writable(client, keys->paths[j])) abort();
    if (++j == keys->count) j = 0;
  }
  return 0;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 10000;
  char text[160];
  snprintf(text, sizeof text, "org.benchmark.policy%d", count);
  client = dconf_client_new();
  settings = g_settings_new(text);
  struct keys sets[4];
  for (int kind = -1; kind < 3; kind++) {
    struct keys keys = {.kind = kind};
    int *order = shuffled_keys(count, kind, &keys.count);
    keys.paths = malloc(sizeof *keys.paths * keys.count);
    keys.names = malloc(sizeof *keys.names * keys.count);
    for (int i = 0; i < keys.count; i++) {
      snprintf(text, sizeof text, "/org/benchmark/policy%d/safe-browsing-key%06d", count, order[i]);
      keys.paths[i] = strdup(text);
      keys.names[i] = strrchr(keys.paths[i], '/') + 1;
    }
    sets[kind + 1] = keys;
    if (kind < 0) {
      snprintf(text, sizeof text, "dconf is_writable, %d keys,", count);
      enter(text, ask_dconf_writable, &sets[0]);
      continue;
    }
    snprintf(text, sizeof text, "dconf read %s, %d keys,", kinds[kind], count);
    enter(text, read_dconf, &sets[kind + 1]);
    snprintf(text, sizeof text, "GSettings get %s, %d keys,", kinds[kind], count);
    enter(text, read_gsettings, &sets[kind + 1]);
  }
  run_contenders();
}
