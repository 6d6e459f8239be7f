// covers: target nowait where the host has one thread
// env: OMP_NUM_THREADS=1
#include "nowait_taskgroup.c"
