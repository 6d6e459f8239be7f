/* Children that are forked before the first question about devices use them, and so does their
   parent. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

#ifdef _OPENACC
static int list[100];
#pragma acc declare create(list)
#else
#pragma omp declare target
static int list[100];
#pragma omp end declare target
#endif

static int twice(int x)
{
#ifdef _OPENACC
#pragma acc serial copy(x)
#else
#pragma omp target map(tofrom : x)
#endif
  {
    list[7] = x;
    x += list[7];
  }
  return x;
}

int main(void)
{
  pid_t children[3];
  for (int k = 0; k < 3; k++) {
    children[k] = fork();
    CHECK(children[k] >= 0);
    if (children[k] == 0) {
      CHECK(twice(k) == 2 * k);
      _exit(40 + twice(k));
    }
  }
  CHECK(twice(50) == 100);
  for (int k = 0; k < 3; k++) {
    int status;
    CHECK(waitpid(children[k], &status, 0) == children[k]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 40 + 2 * k);
  }
  puts("passed");
  return 0;
}
