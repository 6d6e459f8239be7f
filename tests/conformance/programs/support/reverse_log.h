#include <stdio.h>

#pragma omp begin declare target
static inline void log_value(int value) {
#pragma omp target device(ancestor : 1)
  printf("value %d, line %d\n", value, __LINE__);
}
#pragma omp end declare target
