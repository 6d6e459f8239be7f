// covers: target nowait without hidden helper threads
// env: LIBOMP_USE_HIDDEN_HELPER_TASK=0
#include "nowait_many.c"
