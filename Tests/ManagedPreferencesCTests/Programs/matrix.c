// Prints what every getter gives for the keys k0 … k(COUNT-1) of org.example.Editor, a line for each key.
#include <managed_preferences.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The bits, so that no number is lost on the way; NaN has many.
static unsigned long long double_bits(double number) {
  unsigned long long bits;
  memcpy(&bits, &number, sizeof bits);
  return isnan(number) ? 1 : bits;
}

static unsigned float_bits(float number) {
  unsigned bits;
  memcpy(&bits, &number, sizeof bits);
  return isnan(number) ? 1 : bits;
}

static void print_bytes(const char *name, const void *bytes, size_t length) {
  printf(" %s=", name);
  if (!bytes) {
    printf("NULL");
    return;
  }
  for (size_t i = 0; i < length; i++) printf("%02x", ((const unsigned char *)bytes)[i]);
}

int main(int argument_count, char **arguments) {
  int count = argument_count > 1 ? atoi(arguments[1]) : 0;
  mp_preferences *preferences;
  if (mp_set_application_identifier("org.example.Editor") != MP_OK || mp_open(&preferences) != MP_OK) return 1;
  for (int i = 0; i < count; i++) {
    char key[16], *text, **strings;
    bool flag, is_forced;
    int64_t integer;
    float number;
    double real;
    void *bytes;
    size_t length, string_count, size;
    mp_value *value, *array, *dictionary;
    snprintf(key, sizeof key, "k%d", i);
    if (mp_get_bool(preferences, key, &flag) || mp_get_integer(preferences, key, &integer) ||
        mp_get_float(preferences, key, &number) || mp_get_double(preferences, key, &real) ||
        mp_get_string(preferences, key, &text, &length) || mp_get_data(preferences, key, &bytes, &size) ||
        mp_get_string_array(preferences, key, &strings, &string_count) || mp_get_value(preferences, key, &value) ||
        mp_get_array(preferences, key, &array) || mp_get_dictionary(preferences, key, &dictionary) ||
        mp_is_forced(preferences, key, &is_forced)) {
      fprintf(stderr, "%s\n", mp_error_message());
      return 1;
    }
    printf("%s %s bool=%d integer=%lld float=%x double=%llx", key, mp_type_name(mp_value_type(value)), flag,
           (long long)integer, float_bits(number), double_bits(real));
    print_bytes("string", text, length);
    print_bytes("data", bytes, size);
    printf(" strings=%s", strings ? "" : "NULL");
    for (size_t j = 0; j < string_count; j++) printf("<%s>", strings[j]);
    printf(" array=%d dictionary=%d forced=%d\n", array != NULL, dictionary != NULL, is_forced);
    mp_free(text);
    mp_free(bytes);
    mp_free(strings);
    mp_value_release(value);
    mp_value_release(array);
    mp_value_release(dictionary);
  }
  mp_close(preferences);
  return 0;
}
