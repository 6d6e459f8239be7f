// covers: LIBOMPTARGET_INFO bits 2 and 8: mappings that exist, are made and are removed
// env: LIBOMPTARGET_INFO=10
// stderr: equal
#include "../support/info_workload.h"
