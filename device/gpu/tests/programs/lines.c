// Lines of many threads, or lines of one with a fault behind them: none is lost. With -DASKING they go to the
// host one by one, else to the driver.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef ASKING
#define PRINT(...) fprintf(stdout, __VA_ARGS__)
#define GIVE_UP abort()
#else
#define PRINT(...) printf(__VA_ARGS__)
#define GIVE_UP __builtin_trap()
#endif

int main(int count, char **words)
{
  int how = count > 1 ? atoi(words[1]) : 0;
  if (how == 0) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 100000; ++i)
      PRINT("thread %d has a line of its own, %s %d\n", i, "and", 3 * i);
  } else {
#pragma omp target
    {
      for (int i = 0; i < 2000; ++i)
        PRINT("line %d\n", i);
      if (how == 1)
        GIVE_UP;
      if (how == 2)
        assert(how != 2);
      __builtin_trap();
    }
  }
  return 0;
}
