#include "reader_epoch.h"
