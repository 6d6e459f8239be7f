// covers: LIBOMPTARGET_INFO bit 4: the mapping table after each construct
// env: LIBOMPTARGET_INFO=4
// stderr: equal
#include "../support/info_workload.h"
