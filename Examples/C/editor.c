// One setting of an editor: read, set, watched, and shown as locked while an administrator forces it.
//
//   editor               prints the setting
//   editor --set SECONDS stores the user's choice; 77 when the setting is locked
//   editor --watch       prints the setting again whenever it changes, until standard input ends
#include <managed_preferences.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const key = "AutoSaveInterval";

static int fail(void) {
  fprintf(stderr, "editor: %s\n", mp_error_message());
  return EXIT_FAILURE;
}

/// Who forces the setting, for people; NULL when nobody does. For mp_free.
static mp_profile *lock_of(mp_preferences *preferences) {
  mp_profile *profiles;
  size_t count;
  mp_forced_by(preferences, key, &profiles, &count);
  return profiles;
}

static void show(mp_preferences *preferences) {
  int64_t seconds;
  bool is_forced;
  mp_get_integer(preferences, key, &seconds);
  mp_is_forced(preferences, key, &is_forced);
  printf("Saving every %" PRId64 " seconds", seconds);
  if (is_forced) {
    mp_profile *profile = lock_of(preferences);
    printf(" (set by %s)", profile ? profile->title : "an administrator");
    mp_free(profile);
  }
  puts(".");
  fflush(stdout);
}

/// Runs on this thread for what this program sets, otherwise on one of the library's: what it touches must bear that.
static void changed(const mp_key_change *change, void *user_data) {
  (void)change;
  show(user_data);
}

static int watch(mp_preferences *preferences) {
  mp_observation *observation;
  if (mp_observe_key(preferences, key, MP_OBSERVE_INITIAL, changed, preferences, NULL, &observation) != MP_OK)
    return fail();
  while (getchar() != EOF) {}
  mp_observation_cancel(observation);
  return EXIT_SUCCESS;
}

static int set(mp_preferences *preferences, const char *text) {
  char *end;
  errno = 0;
  long seconds = strtol(text, &end, 10);
  if (errno != 0 || *end != '\0' || seconds <= 0) {
    fprintf(stderr, "editor: '%s' is not a number of seconds\n", text);
    return 64;
  }
  bool is_forced;
  mp_is_forced(preferences, key, &is_forced);
  if (is_forced) {
    mp_profile *profile = lock_of(preferences);
    fprintf(stderr, "editor: the interval is locked by \"%s\"\n", profile ? profile->title : "an administrator");
    mp_free(profile);
    return 77;
  }
  if (mp_set_integer(preferences, key, seconds) != MP_OK) return fail();
  // Not needed: what is set reaches the disk by itself, or when the program ends. A command says whether it did.
  if (mp_synchronize(preferences) != MP_OK) return fail();
  show(preferences);
  return EXIT_SUCCESS;
}

/// What holds as long as neither an administrator nor the user has said anything.
static mp_status register_defaults(void) {
  mp_value *interval, *defaults;
  mp_value_new_integer(60, &interval);
  mp_value_new_dictionary(&key, &interval, 1, &defaults);
  mp_status status = mp_register_defaults(defaults);
  mp_value_release(interval);
  mp_value_release(defaults);
  return status;
}

int main(int argument_count, char **arguments) {
  mp_preferences *preferences;
  if (mp_set_application_identifier("org.example.Editor") != MP_OK) return fail();
  if (mp_open(&preferences) != MP_OK || register_defaults() != MP_OK) return fail();

  int status = EXIT_SUCCESS;
  if (argument_count == 3 && strcmp(arguments[1], "--set") == 0) {
    status = set(preferences, arguments[2]);
  } else if (argument_count == 2 && strcmp(arguments[1], "--watch") == 0) {
    status = watch(preferences);
  } else if (argument_count > 1 && strncmp(arguments[1], "--", 2) == 0) {
    fputs("usage: editor [--set SECONDS | --watch | -AutoSaveInterval SECONDS]\n", stderr);
    status = 64;
  } else {
    show(preferences);
  }
  mp_close(preferences);
  return status;
}
