// The header stands alone, as C: nothing is included before it. What it says of itself, the library says.
#include "managed_preferences.h"

int mp_version_number(void) { return MP_VERSION_NUMBER; }

const char *mp_version(void) { return MP_VERSION; }
