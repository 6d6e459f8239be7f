#pragma omp declare target
int twice(int value) { return 2 * value; }
#pragma omp end declare target
