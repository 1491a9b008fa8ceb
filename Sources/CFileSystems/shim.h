// statfs(2), which the toolchain's own module of the C library leaves out.
#include <sys/vfs.h>
