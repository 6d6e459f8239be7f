/* Very many regions that nobody waits for: outside of parallel regions, by the threads of one, and
   as a chain. */
#include "check.h"
#include <string.h>

enum { MANY = 400 };

int main(int count, char **arguments)
{
  static int list[MANY];
  int chain = 0;
  const char *how = count > 1 ? arguments[1] : "";
#pragma omp target enter data map(to : list, chain)
  if (strcmp(how, "alone") == 0) {
    for (int i = 0; i < MANY; i++) {
#pragma omp target nowait map(alloc : list)
      list[i] += i;
    }
#pragma omp taskwait
  } else if (strcmp(how, "threads") == 0) {
#pragma omp parallel num_threads(4)
#pragma omp for
    for (int i = 0; i < MANY; i++) {
#pragma omp target nowait map(alloc : list)
      list[i] += i;
    }
  } else {
    for (int i = 0; i < MANY; i++) {
#pragma omp target nowait map(alloc : list, chain) depend(inout : chain) depend(out : list[i])
      list[i] = chain++;
    }
#pragma omp taskwait
  }
#pragma omp target exit data map(from : list)
  for (int i = 0; i < MANY; i++)
    CHECK(list[i] == i);
  puts("passed");
  return 0;
}
