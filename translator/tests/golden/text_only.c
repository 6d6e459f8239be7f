/* #pragma omp target device(ancestor: 1) */
const char *s = "#pragma omp target device(ancestor: 1)";
#if 0
int ancestor;
#endif
