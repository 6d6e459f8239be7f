#pragma once
int put(int);
#pragma omp begin declare target
static inline void log_value(int x) {
#pragma omp target device(ancestor: 1)
  put(x);
}
#pragma omp end declare target
