// covers: LIBOMPTARGET_INFO bit 0x20: copies in both directions
// env: LIBOMPTARGET_INFO=32
// stderr: equal
#include "../support/info_workload.h"
