// Calls every function of the library, in a process of its own, below a root where a policy forces AutoSaveInterval to 30
// and recommends Theme. Ends with 0 when every answer was right; the tests run it under valgrind, too.
#define _DEFAULT_SOURCE
#include <managed_preferences.h>

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

static void check(bool is_right, const char *what, int line) {
  if (is_right) return;
  failures++;
  fprintf(stderr, "everything.c:%d: %s (%s)\n", line, what, mp_error_message());
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define OK(call) CHECK((call) == MP_OK)

static bool same(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

// A call that has to fail, and the words for it.
static void refused(mp_status status, mp_status expected, const char *message, int line) {
  if (status == expected && same(mp_error_message(), message)) return;
  failures++;
  fprintf(stderr, "everything.c:%d: %s, \"%s\"\n", line, mp_status_name(status), mp_error_message());
}
#define REFUSED(status, call, message) refused(call, status, message, __LINE__)

static void library(void) {
  CHECK(mp_version_number() == MP_VERSION_NUMBER);
  CHECK(same(mp_version(), MP_VERSION));
  CHECK(same(mp_error_message(), ""));
  CHECK(same(mp_status_name(MP_OK), "MP_OK"));
  for (int status = 0; status <= MP_ERROR_FORMAT; status++) CHECK(mp_status_name((mp_status)status) != NULL);
  CHECK(mp_status_name((mp_status)(MP_ERROR_FORMAT + 1)) == NULL);
  for (int type = MP_TYPE_STRING; type <= MP_TYPE_DICTIONARY; type++) CHECK(mp_type_name((mp_type)type) != NULL);
  CHECK(mp_type_name(MP_TYPE_NONE) == NULL);
  CHECK(same(mp_type_name(MP_TYPE_BOOLEAN), "boolean"));
  for (int layer = MP_LAYER_FORCED; layer <= MP_LAYER_REGISTRATION; layer++) CHECK(mp_layer_name((mp_layer)layer));
  CHECK(mp_layer_name(MP_LAYER_NONE) == NULL);
  CHECK(same(mp_layer_name(MP_LAYER_APPLICATION_HOST), "application-host"));
  mp_free(NULL);
}

static void scalars(void) {
  mp_value *value;
  const char *text;
  const void *bytes;
  size_t length;
  int64_t integer;
  uint64_t unsigned_integer;
  double real;
  bool flag;

  OK(mp_value_new_string("h\xc3\xa9", &value));
  CHECK(mp_value_type(value) == MP_TYPE_STRING);
  OK(mp_value_get_string(value, &text, &length));
  CHECK(same(text, "h\xc3\xa9") && length == 3);
  OK(mp_value_get_string(value, &text, NULL));
  REFUSED(MP_ERROR_TYPE, mp_value_get_real(value, &real), "mp_value_get_real: the value's type is string, not real");
  mp_value *again = mp_value_retain(value);
  CHECK(again == value);
  mp_value_release(value);
  CHECK(mp_value_type(again) == MP_TYPE_STRING);
  mp_value_release(again);
  REFUSED(MP_ERROR_ENCODING, mp_value_new_string("\xff", &value), "mp_value_new_string: 'text' is not UTF-8");
  CHECK(value == NULL);

  OK(mp_value_new_string_with_length("a\0b", 3, &value));
  OK(mp_value_get_string(value, &text, &length));
  CHECK(length == 3 && memcmp(text, "a\0b", 4) == 0);
  mp_value_release(value);

  OK(mp_value_new_integer(INT64_MIN, &value));
  OK(mp_value_get_integer(value, &integer));
  CHECK(integer == INT64_MIN);
  REFUSED(MP_ERROR_RANGE, mp_value_get_unsigned(value, &unsigned_integer),
          "mp_value_get_unsigned: -9223372036854775808 is below 0");
  mp_value_release(value);

  OK(mp_value_new_unsigned(UINT64_MAX, &value));
  OK(mp_value_get_unsigned(value, &unsigned_integer));
  CHECK(unsigned_integer == UINT64_MAX && mp_value_type(value) == MP_TYPE_INTEGER);
  REFUSED(MP_ERROR_RANGE, mp_value_get_integer(value, &integer),
          "mp_value_get_integer: 18446744073709551615 is above 2^63-1");
  mp_value_release(value);

  OK(mp_value_new_real(2.5, &value));
  OK(mp_value_get_real(value, &real));
  CHECK(real == 2.5);
  mp_value_release(value);

  OK(mp_value_new_boolean(true, &value));
  OK(mp_value_get_boolean(value, &flag));
  CHECK(flag);
  mp_value_release(value);

  OK(mp_value_new_date(1.0625, &value));
  OK(mp_value_get_date(value, &real));
  CHECK(real + MP_REFERENCE_DATE == 978307201.0625);
  mp_value_release(value);
  REFUSED(MP_ERROR_RANGE, mp_value_new_date(NAN, &value),
          "mp_value_new_date: the date is outside the years 0000 to 9999");

  OK(mp_value_new_data("\1\0\2", 3, &value));
  OK(mp_value_get_data(value, &bytes, &length));
  CHECK(length == 3 && memcmp(bytes, "\1\0\2", 3) == 0);
  mp_value_release(value);
  OK(mp_value_new_data(NULL, 0, &value));
  OK(mp_value_get_data(value, &bytes, &length));
  CHECK(length == 0 && bytes != NULL);
  mp_value_release(value);

  CHECK(mp_value_type(NULL) == MP_TYPE_NONE && mp_value_count(NULL) == 0);
  CHECK(mp_value_retain(NULL) == NULL);
  mp_value_release(NULL);
}

static void containers(void) {
  mp_value *one, *text, *array, *dictionary, *other;
  OK(mp_value_new_integer(1, &one));
  OK(mp_value_new_string("x", &text));
  mp_value *elements[] = {one, text};
  OK(mp_value_new_array(elements, 2, &array));
  const char *keys[] = {"z", "a"};
  mp_value *values[] = {array, one};
  OK(mp_value_new_dictionary(keys, values, 2, &dictionary));
  mp_value_release(one);
  mp_value_release(text);
  mp_value_release(array);

  mp_value *member, *element;
  const char *key;
  size_t length;
  CHECK(mp_value_count(dictionary) == 2);
  OK(mp_value_get_member(dictionary, 0, &key, &length, &member));
  CHECK(same(key, "a") && length == 1 && mp_value_type(member) == MP_TYPE_INTEGER);
  OK(mp_value_get_member(dictionary, 1, &key, NULL, &member));
  CHECK(same(key, "z") && mp_value_count(member) == 2);
  OK(mp_value_get_element(member, 1, &element));
  CHECK(mp_value_type(element) == MP_TYPE_STRING);
  REFUSED(MP_ERROR_RANGE, mp_value_get_element(member, 2, &element),
          "mp_value_get_element: there is no index 2 among 2");
  CHECK(element == NULL);
  OK(mp_value_find_member(dictionary, "z", &other));
  CHECK(other == member);
  OK(mp_value_find_member(dictionary, "none", &other));
  CHECK(other == NULL);
  // A member outlives its dictionary when it is retained.
  mp_value_retain(member);

  char *described;
  OK(mp_value_describe(dictionary, &described));
  CHECK(same(described, "{a: 1, z: [1, \"x\"]}"));
  mp_free(described);

  for (int format = MP_FORMAT_BINARY; format <= MP_FORMAT_JSON; format++) {
    void *bytes;
    size_t size;
    OK(mp_value_encode(dictionary, (mp_format)format, &bytes, &size));
    OK(mp_value_decode(bytes, size, MP_FORMAT_ANY, &other));
    // Old-style text has no integers but GNUstep's, which is what is written.
    CHECK(mp_value_equal(dictionary, other));
    mp_value_release(other);
    mp_free(bytes);
  }
  REFUSED(MP_ERROR_FORMAT, mp_value_decode("{", 1, MP_FORMAT_JSON, &other),
          "mp_value_decode: 1:2: the input ends inside an object");
  mp_value_release(dictionary);
  CHECK(mp_value_count(member) == 2);
  CHECK(!mp_value_equal(member, NULL) && mp_value_equal(NULL, NULL));
  mp_value_release(member);

  OK(mp_value_new_array(NULL, 0, &array));
  CHECK(mp_value_type(array) == MP_TYPE_ARRAY && mp_value_count(array) == 0);
  mp_value_release(array);
}

static void opening(mp_preferences **preferences, mp_preferences **suite) {
  char *identifier;
  REFUSED(MP_ERROR_NAME, mp_set_application_identifier("../evil"),
          "mp_set_application_identifier: a domain's name can't contain '/': ../evil");
  OK(mp_get_application_identifier(&identifier));
  CHECK(same(identifier, "everything"));
  mp_free(identifier);
  OK(mp_set_application_identifier("org.example.Editor"));
  OK(mp_get_application_identifier(&identifier));
  CHECK(same(identifier, "org.example.Editor"));
  mp_free(identifier);
  const char *arguments[] = {"-FromArguments", "yes"};
  OK(mp_set_arguments(arguments, 2));
  OK(mp_open(preferences));
  OK(mp_open_suite("org.example.Suite", suite));
  mp_preferences *none;
  REFUSED(MP_ERROR_NAME, mp_open_suite("org.example.Editor", &none),
          "mp_open_suite: it is the application's own domain");
  CHECK(none == NULL);
  REFUSED(MP_ERROR_TOO_LATE, mp_set_arguments(NULL, 0),
          "mp_set_arguments: values were read as \"org.example.Editor\" already; "
          "state this before preferences are opened");
  REFUSED(MP_ERROR_USER, mp_open_user("no-such-user", &none),
          "mp_open_user: there is no such account, or its preferences may not be read");
  // Of one's own account: the same files.
  struct passwd *account = getpwuid(geteuid());
  OK(mp_open_user(account->pw_name, &none));
  OK(mp_set_string(none, "FromAccount", "yes"));
  char *text;
  OK(mp_get_string(*preferences, "FromAccount", &text, NULL));
  CHECK(same(text, "yes"));
  mp_free(text);
  mp_close(none);
  mp_close(NULL);
}

static void getters_and_setters(mp_preferences *preferences) {
  mp_value *value;
  char *text, *base;
  char **strings;
  void *bytes;
  size_t count;
  int64_t integer;
  float number;
  double real;
  bool flag;

  OK(mp_set_bool(preferences, "bool", true));
  OK(mp_get_bool(preferences, "bool", &flag));
  CHECK(flag);
  OK(mp_get_bool(preferences, "FromArguments", &flag));
  CHECK(flag);
  OK(mp_set_integer(preferences, "integer", -7));
  OK(mp_get_integer(preferences, "integer", &integer));
  CHECK(integer == -7);
  OK(mp_set_unsigned(preferences, "unsigned", UINT64_MAX));
  OK(mp_get_integer(preferences, "unsigned", &integer));
  CHECK(integer == INT64_MAX);
  OK(mp_get_string(preferences, "unsigned", &text, NULL));
  CHECK(same(text, "18446744073709551615"));
  mp_free(text);
  OK(mp_set_float(preferences, "float", 3.7f));
  OK(mp_get_float(preferences, "float", &number));
  CHECK(number == 3.7f);
  OK(mp_get_string(preferences, "float", &text, &count));
  CHECK(same(text, "3.7") && count == 3);
  mp_free(text);
  OK(mp_set_double(preferences, "double", 0.5));
  OK(mp_get_double(preferences, "double", &real));
  CHECK(real == 0.5);
  OK(mp_set_string(preferences, "string", "gr\xc3\xbcn"));
  OK(mp_get_string(preferences, "string", &text, NULL));
  CHECK(same(text, "gr\xc3\xbcn"));
  mp_free(text);

  const char *names[] = {"a", "", "c"};
  OK(mp_set_string_array(preferences, "strings", names, 3));
  OK(mp_get_string_array(preferences, "strings", &strings, &count));
  CHECK(count == 3 && same(strings[0], "a") && same(strings[1], "") && same(strings[2], "c"));
  mp_free(strings);
  OK(mp_get_array(preferences, "strings", &value));
  CHECK(mp_value_count(value) == 3);
  mp_value_release(value);
  OK(mp_get_string_array(preferences, "integer", &strings, &count));
  CHECK(strings == NULL && count == 0);

  OK(mp_set_date(preferences, "date", 12.5));
  OK(mp_get_value(preferences, "date", &value));
  OK(mp_value_get_date(value, &real));
  CHECK(real == 12.5);
  mp_value_release(value);

  OK(mp_set_data(preferences, "data", "\0\1", 2));
  OK(mp_get_data(preferences, "data", &bytes, &count));
  CHECK(count == 2 && memcmp(bytes, "\0\1", 2) == 0);
  mp_free(bytes);

  OK(mp_set_url(preferences, "url", "https://example.org/", NULL));
  OK(mp_get_url(preferences, "url", &text, &base));
  CHECK(same(text, "https://example.org/") && base == NULL);
  mp_free(text);
  OK(mp_set_url(preferences, "url", "b", "https://example.org/a/"));
  OK(mp_get_url(preferences, "url", &text, &base));
  CHECK(same(text, "b") && same(base, "https://example.org/a/"));
  mp_free(text);
  mp_free(base);

  OK(mp_value_decode("{\"k\": [1, 2.0, true]}", 21, MP_FORMAT_JSON, &value));
  OK(mp_set_value(preferences, "dictionary", value));
  mp_value *found;
  OK(mp_get_dictionary(preferences, "dictionary", &found));
  CHECK(mp_value_equal(value, found));
  mp_value_release(value);
  mp_value_release(found);

  OK(mp_remove(preferences, "dictionary"));
  OK(mp_get_value(preferences, "dictionary", &found));
  CHECK(found == NULL);

  OK(mp_value_decode("{AutoSaveInterval = 90; Registered = 1;}", 40, MP_FORMAT_OPENSTEP, &value));
  OK(mp_register_defaults(value));
  mp_value_release(value);
  OK(mp_get_integer(preferences, "Registered", &integer));
  CHECK(integer == 1);
  OK(mp_get_dictionary_representation(preferences, &value));
  OK(mp_value_find_member(value, "Registered", &found));
  CHECK(mp_value_type(found) == MP_TYPE_STRING);
  mp_value_release(value);

  REFUSED(MP_ERROR_KEY, mp_set_bool(preferences, "", true), "mp_set_bool: the key is empty");
  REFUSED(MP_ERROR_NULL, mp_get_bool(NULL, "k", &flag), "mp_get_bool: 'preferences' is NULL");
  REFUSED(MP_ERROR_NULL, mp_get_bool(preferences, NULL, &flag), "mp_get_bool: 'key' is NULL");
  REFUSED(MP_ERROR_NULL, mp_get_bool(preferences, "k", NULL), "mp_get_bool: 'flag' is NULL");
  OK(mp_synchronize(preferences));
  OK(mp_get_faults(preferences, &strings, &count));
  CHECK(strings == NULL && count == 0);
}

static void forced(mp_preferences *preferences) {
  bool is_forced;
  int64_t interval;
  mp_profile *profiles;
  mp_source *sources;
  size_t count;
  mp_layer layer;

  OK(mp_set_integer(preferences, "AutoSaveInterval", 60));
  OK(mp_get_integer(preferences, "AutoSaveInterval", &interval));
  CHECK(interval == 30);
  OK(mp_is_forced(preferences, "AutoSaveInterval", &is_forced));
  CHECK(is_forced);
  OK(mp_is_forced(preferences, "integer", &is_forced));
  CHECK(!is_forced);
  OK(mp_is_forced_in_domain(preferences, "AutoSaveInterval", "org.example.Other", &is_forced));
  CHECK(!is_forced);
  REFUSED(MP_ERROR_KEY, mp_is_forced(preferences, "", &is_forced), "mp_is_forced: the key is empty");
  CHECK(is_forced);
  OK(mp_forced_by(preferences, "AutoSaveInterval", &profiles, &count));
  CHECK(count == 1 && same(profiles[0].id, "org.example.lab.base") && same(profiles[0].title, "Baseline"));
  CHECK(profiles && profiles[0].generation == 1 && profiles[0].until == MP_NO_END);
  mp_free(profiles);
  OK(mp_forced_by(preferences, "integer", &profiles, &count));
  CHECK(profiles == NULL && count == 0);
  OK(mp_get_layer(preferences, "Theme", &layer));
  CHECK(layer == MP_LAYER_RECOMMENDED);
  OK(mp_get_layer(preferences, "none", &layer));
  CHECK(layer == MP_LAYER_NONE);
  OK(mp_get_sources(preferences, "AutoSaveInterval", &sources, &count));
  CHECK(count > 4 && sources[0].layer == MP_LAYER_FORCED && sources[0].has_value);
  CHECK(sources && same(sources[0].domain, "org.example.Editor") && sources[0].path != NULL);
  CHECK(count > 4 && sources[count - 1].layer == MP_LAYER_REGISTRATION && sources[count - 1].has_value);
  mp_free(sources);
}

static bool contains(char **names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (same(names[i], name)) return true;
  return false;
}

static void domains(mp_preferences *preferences, mp_preferences *suite) {
  mp_value *value, *found;
  int64_t integer;
  char **names;
  size_t count;

  OK(mp_set_integer(suite, "InSuite", 5));
  OK(mp_get_integer(preferences, "InSuite", &integer));
  CHECK(integer == 0);
  OK(mp_add_suite(preferences, "org.example.Suite"));
  OK(mp_get_integer(preferences, "InSuite", &integer));
  CHECK(integer == 5);
  OK(mp_remove_suite(preferences, "org.example.Suite"));
  REFUSED(MP_ERROR_NAME, mp_add_suite(preferences, "NSGlobalDomain"),
          "mp_add_suite: \"NSGlobalDomain\" is in every search list of this application already");

  OK(mp_value_decode("{k=v;}", 6, MP_FORMAT_ANY, &value));
  OK(mp_set_persistent_domain(preferences, "org.example.Whole", value));
  OK(mp_get_persistent_domain(preferences, "org.example.Whole", &found));
  CHECK(mp_value_equal(value, found));
  mp_value_release(found);
  OK(mp_get_persistent_domain_names(preferences, &names, &count));
  CHECK(contains(names, count, "org.example.Whole") && contains(names, count, "NSGlobalDomain"));
  mp_free(names);
  OK(mp_remove_persistent_domain(preferences, "org.example.Whole"));
  OK(mp_get_persistent_domain(preferences, "org.example.Whole", &found));
  CHECK(found == NULL);

  OK(mp_set_volatile_domain(preferences, "Mine", value));
  REFUSED(MP_ERROR_EXISTS, mp_set_volatile_domain(preferences, "Mine", value),
          "mp_set_volatile_domain: a volatile domain \"Mine\" exists; remove it first");
  OK(mp_get_volatile_domain(preferences, "Mine", &found));
  CHECK(mp_value_equal(value, found));
  mp_value_release(found);
  OK(mp_get_volatile_domain_names(preferences, &names, &count));
  CHECK(contains(names, count, "Mine") && contains(names, count, "NSArgumentDomain"));
  mp_free(names);
  OK(mp_remove_volatile_domain(preferences, "Mine"));
  OK(mp_get_volatile_domain(preferences, "Mine", &found));
  CHECK(found == NULL);
  mp_value_release(value);
}

struct notes {
  int calls;
  int ends;
  char last[256];
};

static void note_change(const mp_change *change, void *user_data) {
  struct notes *notes = user_data;
  notes->calls++;
  snprintf(notes->last, sizeof notes->last, "%d %s %zu %s", (int)change->origin,
           change->domain ? change->domain : "-", change->key_count, change->key_count ? change->keys[0] : "-");
}

static void note_end(void *user_data) { ((struct notes *)user_data)->ends++; }

static void note_key(const mp_key_change *change, void *user_data) {
  struct notes *notes = user_data;
  char *old_text = NULL, *new_text = NULL;
  notes->calls++;
  if (change->old_value) mp_value_describe(change->old_value, &old_text);
  if (change->new_value) mp_value_describe(change->new_value, &new_text);
  snprintf(notes->last, sizeof notes->last, "%d %d %s %s %s %d %d", (int)change->kind, (int)change->origin, change->key,
           old_text ? old_text : "-", new_text ? new_text : "-", change->was_forced, change->is_forced);
  mp_free(old_text);
  mp_free(new_text);
}

static void key_observations(mp_preferences *preferences) {
  struct notes notes = {0};
  mp_observation *observation;
  OK(mp_set_integer(preferences, "Observed", 7));
  OK(mp_observe_key(preferences, "Observed", MP_OBSERVE_INITIAL, note_key, &notes, note_end, &observation));
  CHECK(notes.calls == 1 && same(notes.last, "1 1 Observed - 7 0 0"));
  OK(mp_set_string(preferences, "Observed", "x"));
  CHECK(notes.calls == 2 && same(notes.last, "3 1 Observed 7 \"x\" 0 0"));
  OK(mp_remove(preferences, "Observed"));
  CHECK(notes.calls == 3 && same(notes.last, "3 1 Observed \"x\" - 0 0"));
  OK(mp_set_integer(preferences, "Other", 1));
  CHECK(notes.calls == 3 && notes.ends == 0);
  mp_observation_cancel(observation);
  CHECK(notes.ends == 1);
  OK(mp_observe_key(preferences, "AutoSaveInterval", MP_OBSERVE_INITIAL | MP_OBSERVE_PRIOR, note_key, &notes, note_end,
                    &observation));
  CHECK(same(notes.last, "1 1 AutoSaveInterval - 30 1 1"));
  mp_observation_cancel(observation);
  REFUSED(MP_ERROR_RANGE, mp_observe_key(preferences, "k", 8, note_key, &notes, note_end, &observation),
          "mp_observe_key: 8 has a bit that is no option");
  CHECK(notes.ends == 3 && observation == NULL);
}

static void observations(mp_preferences *preferences, mp_preferences *suite) {
  struct notes notes = {0};
  mp_observation *observation;
  OK(mp_observe(preferences, note_change, &notes, note_end, &observation));
  OK(mp_set_integer(preferences, "Observed", 1));
  CHECK(notes.calls == 1 && same(notes.last, "1 org.example.Editor 1 Observed"));
  OK(mp_set_integer(suite, "Observed", 1));
  CHECK(notes.calls == 1 && notes.ends == 0);
  mp_observation_cancel(observation);
  CHECK(notes.ends == 1);
  OK(mp_set_integer(preferences, "Observed", 2));
  CHECK(notes.calls == 1);
  mp_observation_cancel(NULL);
  REFUSED(MP_ERROR_NULL, mp_observe(preferences, NULL, &notes, note_end, &observation),
          "mp_observe: 'callback' is NULL");
  CHECK(notes.ends == 2 && observation == NULL);
}

int main(int argument_count, char **arguments) {
  mp_preferences *preferences, *suite;
  int rounds = argument_count > 1 ? atoi(arguments[1]) : 1;
  library();
  opening(&preferences, &suite);
  for (int round = 0; round < rounds; round++) {
    scalars();
    containers();
    getters_and_setters(preferences);
    forced(preferences);
    domains(preferences, suite);
    observations(preferences, suite);
    key_observations(preferences);
  }
  mp_close(suite);
  mp_close(preferences);
  if (failures == 0) puts("right");
  return failures ? 1 : 0;
}
