#pragma omp target device(ancestor: 1)
int x;
