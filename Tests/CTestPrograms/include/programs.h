#ifndef TEST_PROGRAMS_H
#define TEST_PROGRAMS_H

#include <sys/types.h>

/// Starts a program with no descriptor but those given, no signal blocked and none ignored.
///
/// - Parameters:
///   - path: the program's file.
///   - words: its name and arguments, and NULL.
///   - variables: its environment, and NULL.
///   - folder: where it works; NULL: where this process does.
///   - descriptors: what become its descriptors 0 to 3; the last one may be -1, for none.
/// - Returns: 0, or an errno.
int test_program_start(
    pid_t *child, const char *path, char *const words[], char *const variables[], const char *folder,
    const int descriptors[4]);

/// A socket pair for lines between two processes, closed in every program from the beginning.
int test_program_channel(int ends[2]);

/// An anonymous file, closed in every program from the beginning.
int test_program_kept(void);

/// Waits for a child's end.
/// - Parameter status: as `waitpid` gives it.
/// - Returns: 1 when it ended, 0 when it did not within the time, -1 and errno when there is no such child.
int test_program_wait(pid_t child, int milliseconds, int *status);

/// Has a function called at the normal end of this process, after everything that `atexit` knows. The last call counts.
void test_program_at_last(void (*function)(void));

#endif
