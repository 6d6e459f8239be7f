// covers: LIBOMPTARGET_INFO bit 1: the arguments of each construct
// env: LIBOMPTARGET_INFO=1
// stderr: equal
#include "../support/info_workload.h"
