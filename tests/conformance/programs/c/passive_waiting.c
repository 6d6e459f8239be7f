// covers: nowait data directives with passive waiting and no block time
// env: OMP_WAIT_POLICY=passive
// env: KMP_BLOCKTIME=0
#include "nowait_data.c"
