// covers: LIBOMPTARGET_INFO bits 2 and 8: mappings that are made, counted, looked up and removed
// env: LIBOMPTARGET_INFO=10
// stderr: equal
#include "../support/info_workload.h"
