// A region, three times; then an end of the kind that the argument names.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
  const char *end = count > 1 ? arguments[1] : "";
  int x[100] = {0}, wrong = !strcmp(end, "kernel");
  for (int i = 0; i < 3; ++i) {
#pragma omp target map(tofrom : x)
    for (int j = 0; j < 100; ++j)
      x[j] += j;
  }
  if (!strcmp(end, "abort"))
    abort();
  if (!strcmp(end, "_exit"))
    _exit(3);
  if (!strcmp(end, "_Exit"))
    _Exit(4);
  if (!strcmp(end, "quick_exit"))
    quick_exit(5);
  if (!strcmp(end, "interrupt"))
    raise(SIGINT);
  if (!strcmp(end, "terminate"))
    kill(getpid(), SIGTERM);
  if (!strcmp(end, "fault"))
    *(volatile int *)16 = 1;
  if (wrong) {
    int *nowhere = (int *)16;
#pragma omp target firstprivate(nowhere)
    *(volatile int *)nowhere = x[0];
  }
  return x[99] == 297 ? 0 : 1;
}
