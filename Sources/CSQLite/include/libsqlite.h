// What we use of SQLite 3, found at run time.
//
// Programs that never use the synced store never load it: it is 1.5 MB of code with its own relocations. The declarations
// are those of SQLite's documentation, so that building needs no headers of it.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

struct libsqlite_functions {
  int (*_Nonnull sqlite3_libversion_number)(void);
  int (*_Nonnull sqlite3_open_v2)(
      const char *_Nonnull path, sqlite3 *_Nullable *_Nonnull opened, int flags, const char *_Nullable vfs);
  int (*_Nonnull sqlite3_close_v2)(sqlite3 *_Nullable connection);
  int (*_Nonnull sqlite3_busy_timeout)(sqlite3 *_Nonnull connection, int milliseconds);
  int (*_Nonnull sqlite3_extended_errcode)(sqlite3 *_Nullable connection);
  const char *_Nonnull (*_Nonnull sqlite3_errmsg)(sqlite3 *_Nullable connection);
  const char *_Nonnull (*_Nonnull sqlite3_errstr)(int code);
  int (*_Nonnull sqlite3_exec)(
      sqlite3 *_Nonnull connection, const char *_Nonnull sql, void *_Nullable callback, void *_Nullable context,
      char *_Nullable *_Nullable message);
  int (*_Nonnull sqlite3_get_autocommit)(sqlite3 *_Nonnull connection);
  int (*_Nonnull sqlite3_prepare_v2)(
      sqlite3 *_Nonnull connection, const char *_Nonnull sql, int bytes, sqlite3_stmt *_Nullable *_Nonnull statement,
      const char *_Nullable *_Nullable tail);
  int (*_Nonnull sqlite3_bind_int64)(sqlite3_stmt *_Nonnull statement, int index, int64_t value);
  // The destructor -1 (SQLITE_TRANSIENT) has SQLite copy the bytes.
  int (*_Nonnull sqlite3_bind_text)(
      sqlite3_stmt *_Nonnull statement, int index, const char *_Nonnull text, int bytes, intptr_t destructor);
  int (*_Nonnull sqlite3_bind_blob)(
      sqlite3_stmt *_Nonnull statement, int index, const void *_Nonnull blob, int bytes, intptr_t destructor);
  int (*_Nonnull sqlite3_bind_null)(sqlite3_stmt *_Nonnull statement, int index);
  int (*_Nonnull sqlite3_step)(sqlite3_stmt *_Nonnull statement);
  int (*_Nonnull sqlite3_reset)(sqlite3_stmt *_Nonnull statement);
  int (*_Nonnull sqlite3_finalize)(sqlite3_stmt *_Nullable statement);
  int (*_Nonnull sqlite3_column_type)(sqlite3_stmt *_Nonnull statement, int column);
  int64_t (*_Nonnull sqlite3_column_int64)(sqlite3_stmt *_Nonnull statement, int column);
  const void *_Nullable (*_Nonnull sqlite3_column_blob)(sqlite3_stmt *_Nonnull statement, int column);
  int (*_Nonnull sqlite3_column_bytes)(sqlite3_stmt *_Nonnull statement, int column);
};

/// Loads libsqlite3 and fills the table; once it is loaded, it stays.
///
/// @param table left alone where it can't be loaded.
/// @return NULL, or why it can't.
const char *_Nullable libsqlite_load(struct libsqlite_functions *_Nonnull table);
