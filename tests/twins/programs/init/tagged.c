// Values of two types with a tag: all have their tag, or some.
// with: openmp gcc
#include <stdio.h>

struct tagged {
  char tag;
  union {
    int whole;
    double real;
  } value;
};

int main(void)
{
  enum { N = 200 };
  struct tagged a[N]; // finds: copied back to the program
#pragma omp target teams distribute parallel for map(from: a)
  for (int i = 0; i < N; ++i) {
#ifdef WRONG
    if (i < 150)
#endif
    a[i].tag = 'w';
    a[i].value.whole = i;
  }
  printf("%d\n", a[10].value.whole);
  return 0;
}
