/**
 * @file managed_preferences.h
 * Managed preferences for Linux: an application's settings, with those that an administrator forces in front.
 *
 * A program opens its preferences, reads and sets values, asks which ones are forced and by whom, and is told of
 * changes:
 *
 * @code
 * mp_preferences *preferences;
 * mp_set_application_identifier("org.example.Editor");
 * if (mp_open(&preferences) != MP_OK) return fail(mp_error_message());
 *
 * int64_t interval;
 * bool is_forced;
 * mp_get_integer(preferences, "AutoSaveInterval", &interval);
 * mp_is_forced(preferences, "AutoSaveInterval", &is_forced);   // true: grey out the control
 * mp_close(preferences);
 * @endcode
 *
 * **Errors.** A function that can fail returns an ::mp_status; ::mp_error_message has the words. A function that can't
 * fail returns its answer. Nothing that a caller passes stops the program: NULL where something must be, an empty key,
 * text that is not UTF-8, a name that can't be a domain's give a status, and what the results point to then holds
 * false, 0 or NULL (::mp_is_forced and ::mp_is_forced_in_domain say true: who can't ask must not unlock). That a key
 * has no value is no error: the answer is false, 0 or NULL with ::MP_OK. Only memory that has run out ends the program.
 *
 * **Ownership.** What is returned through a pointer to a pointer belongs to the caller, except where "borrowed" is
 * written:
 * - `char *`, `void *` and arrays (`char **`, ::mp_profile, ::mp_source): one block each; give it to ::mp_free.
 * - ::mp_value: ::mp_value_release.
 * - ::mp_preferences: ::mp_close.
 * - ::mp_observation: ::mp_observation_cancel.
 *
 * Borrowed pointers hold as long as what they were borrowed from. What is passed in is copied or retained: it stays the
 * caller's.
 *
 * **Threads.** Every function may be called from any thread, with the same handle too. A handle must not be used while,
 * or after, another thread closes it. In the child of a `fork` the library works on.
 *
 * **Text** is UTF-8 and ends with a NUL. Where values and their keys may hold a NUL of their own, a length comes with
 * them.
 *
 * Keys, domains, layers, conversions, and when a value is forced: the documentation of the project, `c-interface.md`.
 */
#ifndef MANAGED_PREFERENCES_H
#define MANAGED_PREFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/** @name The library */
/** @{ */

#define MP_VERSION_MAJOR 0
#define MP_VERSION_MINOR 1
#define MP_VERSION_PATCH 0
/** The version of this header, for `#if MP_VERSION_NUMBER >= 100`: 10000 × major + 100 × minor + patch. */
#define MP_VERSION_NUMBER (MP_VERSION_MAJOR * 10000 + MP_VERSION_MINOR * 100 + MP_VERSION_PATCH)
/** The version of this header as text. */
#define MP_VERSION "0.1.0"

/** The version of the library that the program runs with, in the form of ::MP_VERSION_NUMBER. */
int mp_version_number(void);

/** The version of the library that the program runs with, such as `0.1.0`. Never freed. */
const char *mp_version(void);

/** How a call ended. */
typedef enum mp_status {
  MP_OK = 0,
  /** A pointer is NULL that must not be. */
  MP_ERROR_NULL = 1,
  /** The key is empty, stands twice in one dictionary, or has more combining marks in a row than a file may hold. */
  MP_ERROR_KEY = 2,
  /** The text is not UTF-8. */
  MP_ERROR_ENCODING = 3,
  /** The name can't be a domain's or a suite's, or not of this one. */
  MP_ERROR_NAME = 4,
  /** The value has another type. */
  MP_ERROR_TYPE = 5,
  /** An index, a number, a date, a length or a depth of nesting is out of range. */
  MP_ERROR_RANGE = 6,
  /** There is a volatile domain of that name already. */
  MP_ERROR_EXISTS = 7,
  /** It can't be said any more: preferences were opened already. */
  MP_ERROR_TOO_LATE = 8,
  /** There is no such account, or its preferences may not be read. */
  MP_ERROR_USER = 9,
  /** Something that was set is not on the disk; it stays in memory, and is tried again. */
  MP_ERROR_WRITE = 10,
  /** The bytes are no property list, or the format can't hold the value. */
  MP_ERROR_FORMAT = 11
} mp_status;

/** The name of a status, such as `MP_ERROR_KEY`; NULL for a number that is none. Never freed. */
const char *mp_status_name(mp_status status);

/**
 * What was wrong with the last call of this thread that failed: one sentence, for a log or a developer.
 *
 * @return Never NULL; empty where no call of this thread has failed yet. Borrowed: it holds until the next call of this
 *   thread that fails, or until the thread ends.
 */
const char *mp_error_message(void);

/** Frees a block of memory that the library returned. NULL does nothing. */
void mp_free(void *memory);

/** @} */
/* ------------------------------------------------------------------------------------------------------------------ */
/**
 * @name Values
 *
 * An ::mp_value is an immutable property-list value with a count of its owners. Boolean, integer and real are three
 * types and stay three types, through memory, files and policies.
 */
/** @{ */

/** An immutable value; shared by counting its owners, from any thread. */
typedef struct mp_value mp_value;

/** The types that a value can have. */
typedef enum mp_type {
  /** Of no value: NULL. */
  MP_TYPE_NONE = 0,
  MP_TYPE_STRING = 1,
  /** −2⁶³ … 2⁶⁴−1. */
  MP_TYPE_INTEGER = 2,
  MP_TYPE_REAL = 3,
  MP_TYPE_BOOLEAN = 4,
  MP_TYPE_DATE = 5,
  MP_TYPE_DATA = 6,
  MP_TYPE_ARRAY = 7,
  MP_TYPE_DICTIONARY = 8
} mp_type;

/** 2001-01-01T00:00:00Z in Unix time: what to add to a date's seconds, which count from there, to get Unix time. */
#define MP_REFERENCE_DATE 978307200.0

/** A string. */
mp_status mp_value_new_string(const char *text, mp_value **value);
/** A string of `length` bytes of UTF-8, which may hold NULs. */
mp_status mp_value_new_string_with_length(const char *bytes, size_t length, mp_value **value);
/** An integer. */
mp_status mp_value_new_integer(int64_t number, mp_value **value);
/** An integer, up to 2⁶⁴−1. */
mp_status mp_value_new_unsigned(uint64_t number, mp_value **value);
/** A real. */
mp_status mp_value_new_real(double number, mp_value **value);
/** A boolean. */
mp_status mp_value_new_boolean(bool flag, mp_value **value);
/**
 * A date.
 * @param seconds From 2001-01-01T00:00:00Z (::MP_REFERENCE_DATE), fractions included.
 * @return ::MP_ERROR_RANGE outside the years 0000 … 9999, which no file can hold.
 */
mp_status mp_value_new_date(double seconds, mp_value **value);
/** Data: a copy of `length` bytes; `bytes` may be NULL where there are none. */
mp_status mp_value_new_data(const void *bytes, size_t length, mp_value **value);
/**
 * An array, which retains its elements.
 * @param elements May be NULL where `count` is 0.
 * @return ::MP_ERROR_RANGE where containers would nest deeper than 511 levels.
 */
mp_status mp_value_new_array(mp_value *const *elements, size_t count, mp_value **value);
/**
 * A dictionary, which retains its values.
 * @param keys, values `count` of each; may be NULL where that is 0.
 * @return ::MP_ERROR_KEY for a key that stands twice (in the sense of Unicode's canonical equivalence),
 *   ::MP_ERROR_RANGE as for an array.
 */
mp_status mp_value_new_dictionary(
    const char *const *keys, mp_value *const *values, size_t count, mp_value **value);

/** Makes the caller one more owner. @return `value`. NULL does nothing. */
mp_value *mp_value_retain(mp_value *value);
/** Gives one ownership back; the last one frees the value. NULL does nothing. */
void mp_value_release(mp_value *value);

/** The type of a value, ::MP_TYPE_NONE for NULL. */
mp_type mp_value_type(mp_value *value);
/** The name of a type, such as `integer`; NULL for none. Never freed. */
const char *mp_type_name(mp_type type);
/**
 * Whether the same would be stored for both: `1`, `1.0` and `true` are three values, a NaN equals itself. NULL equals
 * NULL.
 */
bool mp_value_equal(mp_value *a, mp_value *b);

/**
 * The text of a string.
 * @param text Borrowed from the value; ends with a NUL.
 * @param length In bytes, without that NUL. May be NULL.
 * @return ::MP_ERROR_TYPE for a value that is no string: the functions of this group don't convert.
 */
mp_status mp_value_get_string(mp_value *value, const char **text, size_t *length);
/** The number of an integer. @return ::MP_ERROR_RANGE above `INT64_MAX`: ask ::mp_value_get_unsigned. */
mp_status mp_value_get_integer(mp_value *value, int64_t *number);
/** The number of an integer. @return ::MP_ERROR_RANGE below 0. */
mp_status mp_value_get_unsigned(mp_value *value, uint64_t *number);
/** The number of a real. */
mp_status mp_value_get_real(mp_value *value, double *number);
/** The flag of a boolean. */
mp_status mp_value_get_boolean(mp_value *value, bool *flag);
/** The moment of a date, in seconds from 2001-01-01T00:00:00Z (::MP_REFERENCE_DATE). */
mp_status mp_value_get_date(mp_value *value, double *seconds);
/** The bytes of data, borrowed from the value; never NULL for data. */
mp_status mp_value_get_data(mp_value *value, const void **bytes, size_t *length);

/** The number of elements of an array, or of members of a dictionary; 0 for NULL and other types. */
size_t mp_value_count(mp_value *value);
/**
 * An element of an array.
 * @param element Borrowed from the array.
 * @return ::MP_ERROR_RANGE from ::mp_value_count on.
 */
mp_status mp_value_get_element(mp_value *value, size_t index, mp_value **element);
/**
 * A member of a dictionary. Members are in the order of their keys' bytes.
 * @param key Borrowed from the dictionary. May be NULL.
 * @param key_length In bytes. May be NULL.
 * @param member Borrowed from the dictionary. May be NULL.
 * @return ::MP_ERROR_RANGE from ::mp_value_count on.
 */
mp_status mp_value_get_member(
    mp_value *value, size_t index, const char **key, size_t *key_length, mp_value **member);
/**
 * The member of a dictionary with a key.
 * @param member Borrowed from the dictionary; NULL where there is none.
 */
mp_status mp_value_find_member(mp_value *value, const char *key, mp_value **member);

/** How a property list is written down. */
typedef enum mp_format {
  /** Whichever the bytes are in; for reading only. */
  MP_FORMAT_ANY = 0,
  /** Apple's `bplist00`. */
  MP_FORMAT_BINARY = 1,
  MP_FORMAT_XML = 2,
  /** OpenStep's text, `{key = (1, 2);}`: all that it holds reads as strings, data, arrays and dictionaries. */
  MP_FORMAT_OPENSTEP = 3,
  /** Has no dates and no data: both are written as strings. */
  MP_FORMAT_JSON = 4
} mp_format;

/** Reads a property list. @return ::MP_ERROR_FORMAT, with the place of the fault in the message. */
mp_status mp_value_decode(const void *bytes, size_t length, mp_format format, mp_value **value);
/** Writes a property list, dictionaries in the order of their keys. @param bytes A NUL stands behind the last one. */
mp_status mp_value_encode(mp_value *value, mp_format format, void **bytes, size_t *length);
/** One line of text for people: strings in quotation marks, everything that could mislead a terminal escaped. */
mp_status mp_value_describe(mp_value *value, char **text);

/** @} */
/* ------------------------------------------------------------------------------------------------------------------ */
/** @name Opening */
/** @{ */

/**
 * An application's preferences, or another domain's in their place: a search list of layers, of which the first that
 * has a key answers. Handles of one process share what they set and what was registered; suites are each handle's own.
 */
typedef struct mp_preferences mp_preferences;

/**
 * States the application's domain, such as `org.example.Editor`: the one that policies name. Without it the domain is
 * the name of the executable's real file, so programs that an interpreter runs should not go without.
 * @return ::MP_ERROR_TOO_LATE once preferences were opened: values were read under another name.
 */
mp_status mp_set_application_identifier(const char *identifier);
/** The application's domain: as stated, or the name of the executable's real file. */
mp_status mp_get_application_identifier(char **identifier);

/**
 * States the command line whose `-key value` pairs are preferences for this process. Without it the kernel's account of
 * the program's arguments is taken, which for a script begins with the script.
 * @param arguments Without the program's name; may be NULL where `count` is 0, for none.
 * @return ::MP_ERROR_TOO_LATE once preferences were opened.
 */
mp_status mp_set_arguments(const char *const *arguments, size_t count);

/** Opens the application's preferences. */
mp_status mp_open(mp_preferences **preferences);
/**
 * Opens preferences in which a suite (a domain that several applications share) takes the application's place.
 * @return ::MP_ERROR_NAME for the application's own domain and for `NSGlobalDomain`.
 */
mp_status mp_open_suite(const char *suite, mp_preferences **preferences);
/**
 * Opens the preferences that this application has for another account. This process's own rights decide: root reads
 * everybody's files, and writes nobody else's.
 * @return ::MP_ERROR_USER where there is no such account, or where its files may not be read.
 */
mp_status mp_open_user(const char *user, mp_preferences **preferences);
/**
 * Closes a handle. What was set still reaches the disk; observations go on until they are cancelled. NULL does nothing.
 */
void mp_close(mp_preferences *preferences);

/** @} */
/* ------------------------------------------------------------------------------------------------------------------ */
/**
 * @name Getters
 *
 * The value from the first layer that has the key, converted to what is asked for. A key that no layer has, and a value
 * that does not convert, give false, 0 or NULL, with ::MP_OK. `c-interface.md` has the table of conversions.
 */
/** @{ */

/** The value in its own type, NULL where there is none. */
mp_status mp_get_value(mp_preferences *preferences, const char *key, mp_value **value);
/** Booleans; numbers other than 0; `YES`, `true`, `1` in any case. */
mp_status mp_get_bool(mp_preferences *preferences, const char *key, bool *flag);
/** Integers and reals, truncated and clamped; booleans as 1 and 0; the leading digits of a string. */
mp_status mp_get_integer(mp_preferences *preferences, const char *key, int64_t *number);
/** As ::mp_get_double, rounded. */
mp_status mp_get_float(mp_preferences *preferences, const char *key, float *number);
/** Reals and integers; booleans as 1 and 0; the leading decimal number of a string. */
mp_status mp_get_double(mp_preferences *preferences, const char *key, double *number);
/**
 * Strings; the text of numbers; booleans as `1` and `0`.
 * @param length In bytes. May be NULL.
 */
mp_status mp_get_string(mp_preferences *preferences, const char *key, char **text, size_t *length);
/** An array of which every element is a string. @param strings One block; NULL where there is no such array. */
mp_status mp_get_string_array(mp_preferences *preferences, const char *key, char ***strings, size_t *count);
/** The value if it is an array, else NULL. */
mp_status mp_get_array(mp_preferences *preferences, const char *key, mp_value **array);
/** The value if it is a dictionary, else NULL. */
mp_status mp_get_dictionary(mp_preferences *preferences, const char *key, mp_value **dictionary);
/** The bytes if the value is data, else NULL. */
mp_status mp_get_data(mp_preferences *preferences, const char *key, void **bytes, size_t *length);
/**
 * A URL: a string that begins with `scheme://` is that URL, any other string a path (`~` expanded) that becomes a
 * `file:` URL; data that archives a URL is that one. Else NULL. The file system is not asked: a folder's URL ends
 * without a slash where the path does.
 * @param base What the URL is relative to, NULL where it is absolute. May be NULL if that does not matter.
 */
mp_status mp_get_url(mp_preferences *preferences, const char *key, char **url, char **base);

/** The first hit of every key of all layers, in a dictionary. */
mp_status mp_get_dictionary_representation(mp_preferences *preferences, mp_value **dictionary);

/** @} */
/* ------------------------------------------------------------------------------------------------------------------ */
/**
 * @name Setters
 *
 * They store a value in the handle's own domain, for this user. They return at once: the value is read at once by every
 * handle of the process, and reaches the disk within a second, or at exit. On a forced key they store what the user
 * wants underneath, which has no effect until the policy releases the key; the attempt is an event for the
 * administrator.
 */
/** @{ */

/** Stores a value as it is. NULL is an error, and not a removal: what could not be made removes nothing. */
mp_status mp_set_value(mp_preferences *preferences, const char *key, mp_value *value);
mp_status mp_set_bool(mp_preferences *preferences, const char *key, bool flag);
mp_status mp_set_integer(mp_preferences *preferences, const char *key, int64_t number);
mp_status mp_set_unsigned(mp_preferences *preferences, const char *key, uint64_t number);
/** Stores a real that prints as the Float does: `3.7`, not `3.700000047683716`. */
mp_status mp_set_float(mp_preferences *preferences, const char *key, float number);
mp_status mp_set_double(mp_preferences *preferences, const char *key, double number);
mp_status mp_set_string(mp_preferences *preferences, const char *key, const char *text);
mp_status mp_set_string_array(
    mp_preferences *preferences, const char *key, const char *const *strings, size_t count);
/** As ::mp_value_new_date. */
mp_status mp_set_date(mp_preferences *preferences, const char *key, double seconds);
mp_status mp_set_data(mp_preferences *preferences, const char *key, const void *bytes, size_t length);
/**
 * Stores a URL in the form that other applications read: a `file:` URL of this machine as its path, abbreviated with
 * `~`, any other as the archive of an `NSURL`.
 * @param url A URL, or a path that begins with `/` or `~`.
 * @param base What the URL is relative to; NULL for an absolute one.
 */
mp_status mp_set_url(mp_preferences *preferences, const char *key, const char *url, const char *base);

/** Removes a key from the handle's own domain; what deeper layers have is read then. */
mp_status mp_remove(mp_preferences *preferences, const char *key);

/**
 * Registers what holds where no other layer has a key: for every handle of the process, those opened later too. Merges
 * key by key, a later call wins; never written to disk. Give every setting a default that is safe to run with.
 * @param defaults A dictionary.
 */
mp_status mp_register_defaults(mp_value *defaults);

/**
 * Writes what is pending, takes in what others changed (files, policies, time windows), and waits for both.
 * @return ::MP_ERROR_WRITE when something that was set through this handle is not on the disk; ::mp_error_message and
 *   ::mp_get_faults say why.
 */
mp_status mp_synchronize(mp_preferences *preferences);

/**
 * What is wrong with the files behind this handle now, a sentence each.
 * @param faults One block; NULL where there are none.
 */
mp_status mp_get_faults(mp_preferences *preferences, char ***faults, size_t *count);

/** @} */
/* ------------------------------------------------------------------------------------------------------------------ */
/** @name Forced keys, and where a value comes from */
/** @{ */

/**
 * Whether the value that the getters return is an administrator's: disable the control then.
 *
 * Also true for every key while policies are installed on this host and can't be read, and after any error.
 */
mp_status mp_is_forced(mp_preferences *preferences, const char *key, bool *is_forced);
/** The same for an application of another domain. */
mp_status mp_is_forced_in_domain(
    mp_preferences *preferences, const char *key, const char *domain, bool *is_forced);

/** ::mp_profile.until where only a new generation of the policies can end it. */
#define MP_NO_END INT64_MAX

/** A profile that forces a value. */
typedef struct mp_profile {
  /** Its id, such as `org.example.lab.exam`. */
  const char *id;
  /** Its name for people, such as `Exam mode`. */
  const char *title;
  /** The host's generation of policies that says so. */
  uint64_t generation;
  /**
   * The Unix second at which its part in it ends by itself (a time window closes, an override expires), or ::MP_NO_END.
   */
  int64_t until;
} mp_profile;

/**
 * The profiles that force a key, the one that decides first; several where their elements unite.
 * @param profiles One block with its texts; NULL where the key is not forced, and where the policies can't be read.
 */
mp_status mp_forced_by(mp_preferences *preferences, const char *key, mp_profile **profiles, size_t *count);

/** The layers of the search list, in the order in which they are asked. */
typedef enum mp_layer {
  /** No layer has the key. */
  MP_LAYER_NONE = 0,
  MP_LAYER_FORCED = 1,
  MP_LAYER_ARGUMENT = 2,
  MP_LAYER_ROAMING = 3,
  MP_LAYER_APPLICATION_HOST = 4,
  MP_LAYER_APPLICATION = 5,
  MP_LAYER_SUITE_HOST = 6,
  MP_LAYER_SUITE = 7,
  MP_LAYER_GLOBAL_HOST = 8,
  MP_LAYER_GLOBAL = 9,
  MP_LAYER_ANY_USER = 10,
  MP_LAYER_LANGUAGE = 11,
  MP_LAYER_RECOMMENDED = 12,
  MP_LAYER_REGISTRATION = 13
} mp_layer;

/** The name of a layer as the commands print it, such as `application-host`; NULL for none. Never freed. */
const char *mp_layer_name(mp_layer layer);

/** The layer that a key's value comes from. */
mp_status mp_get_layer(mp_preferences *preferences, const char *key, mp_layer *layer);

/** A store that was asked for a key. */
typedef struct mp_source {
  mp_layer layer;
  /** The domain, such as `org.example.Editor`; empty for volatile layers. */
  const char *domain;
  /** The file, NULL for volatile layers. */
  const char *path;
  /** Whether the store has the key. The first one that does decides. */
  bool has_value;
} mp_source;

/**
 * Every store of the search list, in the order of asking, those behind the deciding one included.
 * @param sources One block.
 */
mp_status mp_get_sources(mp_preferences *preferences, const char *key, mp_source **sources, size_t *count);

/** @} */
/* ------------------------------------------------------------------------------------------------------------------ */
/** @name Suites and domains */
/** @{ */

/** Searches a suite behind the handle's own domain, in front of suites added earlier; for this handle alone. */
mp_status mp_add_suite(mp_preferences *preferences, const char *suite);
/** Takes a suite out again; nothing happens where it is not there. */
mp_status mp_remove_suite(mp_preferences *preferences, const char *suite);

/** The domains that have a file of this user, and `NSGlobalDomain`, sorted. @param names One block. */
mp_status mp_get_persistent_domain_names(mp_preferences *preferences, char ***names, size_t *count);
/** A domain's file of this user alone, without forced values. @param dictionary NULL where there is nothing in it. */
mp_status mp_get_persistent_domain(mp_preferences *preferences, const char *name, mp_value **dictionary);
/** Replaces a domain's file of this user whole. */
mp_status mp_set_persistent_domain(mp_preferences *preferences, const char *name, mp_value *dictionary);
/** Empties a domain's file of this user; forced values stay. */
mp_status mp_remove_persistent_domain(mp_preferences *preferences, const char *name);

/** The argument, registration and language domains, and those that were made, sorted. @param names One block. */
mp_status mp_get_volatile_domain_names(mp_preferences *preferences, char ***names, size_t *count);
/** A volatile domain. @param dictionary NULL where there is none of that name. */
mp_status mp_get_volatile_domain(mp_preferences *preferences, const char *name, mp_value **dictionary);
/**
 * Makes a volatile domain: kept by this handle, never written, and searched only under the names of the argument and
 * registration domains.
 * @return ::MP_ERROR_EXISTS where there is one of that name: remove it first.
 */
mp_status mp_set_volatile_domain(mp_preferences *preferences, const char *name, mp_value *dictionary);
/** Removes a volatile domain. */
mp_status mp_remove_volatile_domain(mp_preferences *preferences, const char *name);

/** @} */
/* ------------------------------------------------------------------------------------------------------------------ */
/**
 * @name Changes
 *
 * A callback runs with no lock held: it may call every function of the library, ::mp_observation_cancel included. For
 * what this process sets it runs on the thread that sets, before the setter returns; for what others change (other
 * processes, a new generation of the policies, a time window that opens or closes) on a thread of the library, on which
 * signals are blocked. It must return, and neither throw nor jump out.
 */
/** @{ */

/** A subscription to changes; it keeps what it observes open. */
typedef struct mp_observation mp_observation;

/** Who changed something. */
typedef enum mp_origin {
  /** A call on the observed handle. */
  MP_ORIGIN_HANDLE = 1,
  /** Another handle of this process. */
  MP_ORIGIN_PROCESS = 2,
  /** Another process. */
  MP_ORIGIN_OTHER_PROCESS = 3,
  /** A new generation of the policies, or a time window that opened or closed. */
  MP_ORIGIN_POLICY = 4
} mp_origin;

/** What changed. Everything in it is borrowed for the time of the callback. */
typedef struct mp_change {
  mp_origin origin;
  /** The persistent domain that changed; NULL when a volatile layer or the policies did. */
  const char *domain;
  /** The keys that read differently now, or whose being forced changed, sorted; none for a set on a forced key. */
  const char *const *keys;
  size_t key_count;
} mp_change;

typedef void (*mp_change_callback)(const mp_change *change, void *user_data);
/**
 * Frees what a callback was given: called once, when the observation has ended and no call of it is under way any more,
 * on whichever thread that comes about.
 */
typedef void (*mp_destroy_callback)(void *user_data);

/**
 * Calls back whenever something changed that the handle reads.
 * @param user_data Handed to the callback.
 * @param destroy May be NULL. It is called even where this function fails.
 */
mp_status mp_observe(
    mp_preferences *preferences, mp_change_callback callback, void *user_data, mp_destroy_callback destroy,
    mp_observation **observation);

/** For ::mp_observe_key: a first call with the state at the beginning, before the function returns. */
#define MP_OBSERVE_INITIAL 1u
/**
 * For ::mp_observe_key: one more call before each change. What this process sets is not read before that call has
 * returned, unless the observer is busy with an earlier change; what others change may be read already.
 */
#define MP_OBSERVE_PRIOR 2u

/** Why a key's observer is called. */
typedef enum mp_key_change_kind {
  /** With the state at the beginning: the new value, and no old one. */
  MP_KEY_INITIAL = 1,
  /** A change follows: the old value, and no new one. */
  MP_KEY_PRIOR = 2,
  /** With the old value and the new one. */
  MP_KEY_CHANGED = 3
} mp_key_change_kind;

/**
 * A change of one key: of what is read for it, or of whether it is forced. Everything in it is borrowed for the time of
 * the callback; ::mp_value_retain keeps a value.
 */
typedef struct mp_key_change {
  mp_key_change_kind kind;
  mp_origin origin;
  const char *key;
  /** NULL where no layer had the key. */
  mp_value *old_value;
  /** NULL where no layer has the key. */
  mp_value *new_value;
  bool was_forced;
  bool is_forced;
} mp_key_change;

typedef void (*mp_key_callback)(const mp_key_change *change, void *user_data);

/**
 * Calls back whenever what is read for a key changes, or whether it is forced: each change once, in order, never two
 * calls at a time. A change that comes while the callback runs is told after it, by the thread that runs it.
 * @param options ::MP_OBSERVE_INITIAL, ::MP_OBSERVE_PRIOR, both joined by `|`, or 0.
 * @param destroy As for ::mp_observe.
 */
mp_status mp_observe_key(
    mp_preferences *preferences, const char *key, unsigned int options, mp_key_callback callback, void *user_data,
    mp_destroy_callback destroy, mp_observation **observation);

/**
 * Ends an observation and frees it. A call that is under way on another thread still finishes; `destroy` follows it.
 * NULL does nothing.
 */
void mp_observation_cancel(mp_observation *observation);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
