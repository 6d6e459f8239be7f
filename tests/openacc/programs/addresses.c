// Routines whose variables have their addresses taken: clang has the device runtime make room for these.
#include <stdio.h>

#pragma acc routine seq
static void add(int *to, int by) { *to += by; }

#pragma acc routine seq
static int twice(int x) {
  int y = x;
  add(&y, x);
  return y;
}

#pragma acc routine vector
static int sum(const int *list, int n) {
  int s = 0, shift[2] = {1, 2};
#pragma acc loop vector reduction(+ : s)
  for (int i = 0; i < n; i++) {
    int t = list[i];
    add(&t, shift[i & 1]);
    s += t;
  }
  return s;
}

int main(void) {
  int list[100], sums[4], wanted = 0;
  for (int i = 0; i < 100; i++) list[i] = i;
#pragma acc parallel loop copy(list)
  for (int i = 0; i < 100; i++) {
    int z = 1;
    add(&z, twice(i));
    list[i] = z;
  }
#pragma acc parallel loop gang copyin(list) copyout(sums) num_gangs(4) vector_length(64)
  for (int g = 0; g < 4; g++) {
    int s;
    s = sum(list, 100);
    sums[g] = s;
  }
  for (int i = 0; i < 100; i++) {
    if (list[i] != 2 * i + 1) return printf("list[%d] is %d\n", i, list[i]), 1;
    wanted += 2 * i + 2 + (i & 1);
  }
  for (int g = 0; g < 4; g++)
    if (sums[g] != wanted) return printf("sums[%d] is %d, not %d\n", g, sums[g], wanted), 1;
  puts("ok");
  return 0;
}
