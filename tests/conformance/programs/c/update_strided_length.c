// covers: target update of strided sections whose length is no constant: clang 22 passes bytes for the number of dimensions
// stock: unusable because it follows the wrong description and never ends
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  size_t length;
  double *data;
} vector;
#pragma omp declare mapper(whole : vector v) map(to : v, v.length, v.data[0 : v.length])

static void print(const vector *v) {
  for (size_t i = 0; i < v->length; i++)
    printf("%g ", v->data[i]);
  printf("\n");
}

int main(void) {
  vector v = {16, calloc(16, sizeof(double))};
#pragma omp target data map(mapper(whole), to : v)
  {
#pragma omp target map(mapper(whole), to : v)
    for (size_t i = 0; i < v.length; i++)
      v.data[i] = 10 + i;
#pragma omp target update from(v.data[0 : v.length / 2 : 2])
    print(&v);
    for (size_t i = 0; i < v.length; i++)
      v.data[i] = -1;
    int one = 1, some = 3;
#pragma omp target update to(v.data[2 : some : 5])
#pragma omp target update from(v.data[1 : one : 2])
#pragma omp target update from(v.data[0 : v.length])
    print(&v);
  }
  free(v.data);
  return 0;
}
