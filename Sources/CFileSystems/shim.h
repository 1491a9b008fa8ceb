// What the toolchain's own module of the C library leaves out: statfs(2), and fallocate(2) with its flag.
#include <sys/vfs.h>
#include <sys/types.h>

int fallocate(int file, int mode, off_t offset, off_t count);
static const int FALLOCATE_KEEP_SIZE = 1;
