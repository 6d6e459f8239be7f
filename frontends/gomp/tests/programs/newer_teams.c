/* Numbers of teams as GCC 13 to 16 pass them. GCC 12 compiles the program, and what its code calls
   (the linker's --wrap) puts the newer word in place of GCC 12's. */
#include "check.h"
#include <omp.h>
#include <stdint.h>

enum { NUM_TEAMS = 1 << 8, SUBSEQUENT = 1 << 7, ID_MASK = 0xff00 };

/* The number that the next region passes, and whether it has a word of its own. */
static int number, in_next_word;

void __real_GOMP_target_ext(int, void (*)(void *), size_t, void **, size_t *, unsigned short *, unsigned,
                            void **, void **);

void __wrap_GOMP_target_ext(int device, void (*body)(void *), size_t count, void **hosts, size_t *sizes,
                            unsigned short *kinds, unsigned flags, void **depend, void **arguments)
{
  intptr_t newer[16], *word = newer;
  for (intptr_t *old = (intptr_t *)arguments; *old; old++) {
    intptr_t id = *old, value = id & SUBSEQUENT ? *++old : id >> 16;
    if ((id & ID_MASK) == NUM_TEAMS)
      id = NUM_TEAMS, value = number;
    id = (id & ID_MASK) | (in_next_word ? SUBSEQUENT : value * 0x10000);
    *word++ = id;
    if (in_next_word)
      *word++ = value;
  }
  *word = 0;
  __real_GOMP_target_ext(device, body, count, hosts, sizes, kinds, flags, depend, (void **)newer);
}

/* How often a region without teams is run. */
static int without_teams(void)
{
  int times = 0;
#pragma omp target map(tofrom : times)
#pragma omp atomic
  times++;
  return times;
}

static int with_teams(int wanted)
{
  int teams = 0;
#pragma omp target teams num_teams(wanted) map(tofrom : teams)
  if (omp_get_team_num() == 0)
    teams = omp_get_num_teams();
  return teams;
}

int main(void)
{
  for (in_next_word = 0; in_next_word < 2; in_next_word++) {
    number = -2;
    CHECK(without_teams() == 1);
    number = -1;
    CHECK(with_teams(3) == 3);
    number = 3;
    CHECK(with_teams(3) == 3);
    number = 0;
    CHECK(with_teams(2) == 2);
  }
  puts("passed");
  return 0;
}
