// covers: LIBOMPTARGET_INFO bit 0x10: kernel launches
// env: LIBOMPTARGET_INFO=16
// stderr: equal
#include "../support/info_workload.h"
