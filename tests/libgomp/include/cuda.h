/* GCC's own cuda.h, which some tests are built with, leaves it to whoever includes it to say
   that the functions are C's. NVIDIA's says it itself.  */
#ifdef __cplusplus
extern "C" {
#endif
#include_next <cuda.h>
#ifdef __cplusplus
}
#endif
