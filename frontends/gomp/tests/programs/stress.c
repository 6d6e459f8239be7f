/* Host threads run random regions and data constructs over data that they share and data of their
   own, for as many seconds as the argument says. */
#include "check.h"
#include <omp.h>
#include <stdlib.h>

enum { THREADS = 8, SHARED = 6, OWN = 5, LENGTH = 64 };

/* Whoever maps it writes nothing but what is there: every copy of it is the same. */
static int shared[SHARED][LENGTH];

static unsigned next(unsigned *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

static long run(int number, double seconds)
{
  unsigned state = 12345u + (unsigned)number;
  int own[OWN][LENGTH], expected[OWN], mapped[OWN] = {0};
  long rounds = 0;
  for (int i = 0; i < OWN; i++) {
    expected[i] = i;
    for (int j = 0; j < LENGTH; j++)
      own[i][j] = i;
  }
  for (double end = omp_get_wtime() + seconds; omp_get_wtime() < end; rounds++) {
    int *s = shared[next(&state) % SHARED], which = (int)(next(&state) % OWN), *o = own[which];
    int value = s[0], right = 0;
    switch (next(&state) % 7) {
    case 0:
#pragma omp target map(to : s[0 : LENGTH]) map(from : right)
      right = s[0] == value && s[LENGTH - 1] == value;
      CHECK(right);
      break;
    case 1: {
#pragma omp target data map(to : s[0 : LENGTH])
      {
#pragma omp target map(tofrom : o[0 : LENGTH]) map(to : s[0 : LENGTH])
        for (int j = 0; j < LENGTH; j++)
          o[j] += s[j];
      }
      expected[which] += value;
      break;
    }
    case 2:
      if (!mapped[which]) {
#pragma omp target enter data map(to : o[0 : LENGTH])
        mapped[which] = 1;
      }
      break;
    case 3:
      if (mapped[which]) {
#pragma omp target exit data map(from : o[0 : LENGTH])
        mapped[which] = 0;
      }
      break;
    case 4: {
#pragma omp target enter data map(to : s[0 : LENGTH])
#pragma omp target map(tofrom : o[0 : LENGTH]) firstprivate(value)
      for (int j = 0; j < LENGTH; j++)
        o[j] -= value;
#pragma omp target exit data map(release : s[0 : LENGTH])
      expected[which] -= value;
      break;
    }
    case 5:
#pragma omp target nowait map(tofrom : o[0 : LENGTH]) depend(inout : o[0])
      for (int j = 0; j < LENGTH; j++)
        o[j]++;
#pragma omp target nowait map(tofrom : o[0 : LENGTH]) depend(inout : o[0])
      for (int j = 0; j < LENGTH; j++)
        o[j] *= 3;
#pragma omp taskwait
      expected[which] = (int)(3u * ((unsigned)expected[which] + 1u));
      break;
    default:
      if (mapped[which]) {
#pragma omp target update from(o[0 : LENGTH])
      }
    }
    if (!mapped[which])
      CHECK(o[0] == expected[which] && o[LENGTH - 1] == expected[which]);
  }
  for (int i = 0; i < OWN; i++) {
    int *o = own[i];
    if (mapped[i]) {
#pragma omp target exit data map(from : o[0 : LENGTH])
    }
    CHECK(o[0] == expected[i] && o[LENGTH - 1] == expected[i]);
    CHECK(!omp_target_is_present(o, omp_get_default_device()));
  }
  return rounds;
}

int main(int argc, char **argv)
{
  double seconds = argc > 1 ? atof(argv[1]) : 3;
  long rounds = 0;
  for (int i = 0; i < SHARED; i++)
    for (int j = 0; j < LENGTH; j++)
      shared[i][j] = 100 + i;
#pragma omp parallel num_threads(THREADS) reduction(+ : rounds)
  rounds += run(omp_get_thread_num(), seconds);
  CHECK(rounds > THREADS);
  for (int i = 0; i < SHARED; i++)
    CHECK(!omp_target_is_present(shared[i], omp_get_default_device()) && shared[i][7] == 100 + i);
  puts("passed");
}
