#include "libsqlite.h"

#include <dlfcn.h>

const char *libsqlite_load(struct libsqlite_functions *table) {
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  struct libsqlite_functions found;
#define FIND(name) \
  if (!(found.name = (__typeof__(found.name))dlsym(library, #name))) return dlerror()
  FIND(sqlite3_libversion_number);
  FIND(sqlite3_open_v2);
  FIND(sqlite3_close_v2);
  FIND(sqlite3_busy_timeout);
  FIND(sqlite3_extended_errcode);
  FIND(sqlite3_errmsg);
  FIND(sqlite3_errstr);
  FIND(sqlite3_exec);
  FIND(sqlite3_get_autocommit);
  FIND(sqlite3_prepare_v2);
  FIND(sqlite3_bind_int64);
  FIND(sqlite3_bind_text);
  FIND(sqlite3_bind_blob);
  FIND(sqlite3_bind_null);
  FIND(sqlite3_step);
  FIND(sqlite3_reset);
  FIND(sqlite3_finalize);
  FIND(sqlite3_column_type);
  FIND(sqlite3_column_int64);
  FIND(sqlite3_column_blob);
  FIND(sqlite3_column_bytes);
#undef FIND
  *table = found;
  return 0;
}
