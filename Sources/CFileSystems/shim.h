// What the toolchain's own module of the C library leaves out: statfs(2), fallocate(2) and sync_file_range(2) with their
// flags, getrandom(2).
#include <sys/vfs.h>
#include <sys/types.h>

int fallocate(int file, int mode, off_t offset, off_t count);
static const int FALLOCATE_KEEP_SIZE = 1;

int sync_file_range(int file, off_t offset, off_t count, unsigned flags);
// SYNC_FILE_RANGE_WRITE; and WAIT_BEFORE, WRITE, WAIT_AFTER together.
static const unsigned WRITE_BACK_BEGIN = 2, WRITE_BACK_FINISH = 7;

ssize_t getrandom(void *bytes, size_t count, unsigned flags);
