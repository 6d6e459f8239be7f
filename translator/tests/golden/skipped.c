#define _GNU_SOURCE
#if 0
#pragma omp requires reverse_offload
#pragma omp target device(ancestor: 1)
#endif
int x;
