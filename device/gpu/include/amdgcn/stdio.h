/* <stdio.h> in code for AMD's GPUs: the streams are the device's own, as they are in clang's header for GPUs, which comes
   with headers that want functions of ROCm's. Without it a region would bring the host's streams along. */
#include_next <stdio.h>

#if defined _OPENMP && !defined GANGWAY_AMDGCN_STDIO_H
#define GANGWAY_AMDGCN_STDIO_H
#undef stdin
#undef stdout
#undef stderr
#pragma omp begin declare target
extern FILE *stdin, *stdout, *stderr;
#pragma omp end declare target
#endif
