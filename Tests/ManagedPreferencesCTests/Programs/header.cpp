// The header is good C++: types, constants and functions, without a warning.
#include <managed_preferences.h>

#include <cstdio>
#include <cstring>

static void note_change(const mp_change *change, void *user_data) {
  *static_cast<std::size_t *>(user_data) += change->key_count;
}

int main() {
  mp_preferences *preferences = nullptr;
  if (mp_open(&preferences) != MP_OK) return 1;
  std::size_t keys = 0;
  mp_observation *observation = nullptr;
  if (mp_observe(preferences, note_change, &keys, nullptr, &observation) != MP_OK) return 2;
  const char *const names[] = {"a", "b"};
  if (mp_set_string_array(preferences, "Names", names, 2) != MP_OK) return 3;
  mp_observation_cancel(observation);
  mp_close(preferences);
  if (keys != 1 || std::strcmp(mp_version(), MP_VERSION) != 0) return 4;
  std::puts("right");
  return 0;
}
