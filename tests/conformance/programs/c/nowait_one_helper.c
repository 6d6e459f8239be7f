// covers: target nowait with a single hidden helper thread
// env: LIBOMP_NUM_HIDDEN_HELPER_THREADS=1
#include "nowait_depend_chain.c"
