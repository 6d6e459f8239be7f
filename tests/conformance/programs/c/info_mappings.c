// covers: LIBOMPTARGET_INFO bits 2 and 8: mappings that are made, counted and removed
//
// The stock library also tells of every look-up that it makes on its way to a launch; how
// many there are is its own affair.
// env: LIBOMPTARGET_INFO=10
// stderr: equal Creating new map entry | Removing map entry | incremented
#include "../support/info_workload.h"
