// covers: signals that arrive while a region runs reach the program's handler, and the region goes on
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t seen;
static void on_signal(int number) {
  (void)number;
  seen++;
}

int main(void) {
  signal(SIGUSR2, on_signal);
  int x = 0;
#pragma omp target map(tofrom : x)
  {
    raise(SIGUSR2);
    x++;
    raise(SIGUSR2);
    x++;
  }
  printf("%d %d\n", (int)seen, x);
  return 0;
}
