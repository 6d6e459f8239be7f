// Variables that live as long as the program, and those of a thread, which no clause names.
#include <stdio.h>

#define N 40
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

static int own = 1;
int of_all = 2;
_Thread_local int mine = 3;
static _Thread_local double list[N];

/* Each gang has a copy, and all of its threads see what one of them has written there. */
static int written(void) {
  static int inner = 4;
  int out[N];
#pragma acc parallel num_gangs(4) num_workers(2) vector_length(32) copyout(out)
  {
    own = 7;
    of_all += own;
    inner = of_all + 1;
#pragma acc loop gang worker vector
    for (int i = 0; i < N; i++) out[i] = own + of_all + inner + i;
  }
  for (int i = 0; i < N; i++) CHECK(out[i] == 26 + i);
#pragma acc parallel num_gangs(1) copyout(out)
  {
    own = 9;
#pragma acc loop vector
    for (int i = 0; i < N; i++) out[i] = own + i;
    own = out[3] + 1;
#pragma acc loop vector
    for (int i = 0; i < N; i++) out[i] += own;
  }
  for (int i = 0; i < N; i++) CHECK(out[i] == 22 + i);
  CHECK(own == 1 && of_all == 2 && inner == 4);
  return 0;
}

static int of_threads(void) {
  int sum = 0;
  mine = 5;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += mine;
#pragma acc parallel loop gang reduction(+ : sum) firstprivate(mine)
  for (int i = 0; i < mine; i++) sum++;
  CHECK(sum == 55);
#pragma acc parallel loop
  for (int i = 0; i < N; i++) list[i] = i;
#pragma acc parallel copy(mine)
  mine += 1;
  CHECK(mine == 6 && list[N - 1] == N - 1);
#pragma acc parallel loop reduction(+ : mine)
  for (int i = 0; i < 10; i++) mine += i;
#pragma acc parallel loop private(mine) copyin(list)
  for (int i = 0; i < 10; i++) {
    mine = i;
    list[i] = mine;
  }
  CHECK(mine == 51);
  return 0;
}

int main(void) {
  if (written() || of_threads()) return 1;
  puts("ok");
  return 0;
}
