// covers: firstprivate structures of several kilobytes, several at once, and unions
#include <stdio.h>

struct big {
  int v[3000];
  double w[500];
  char name[33];
};
union either {
  double d;
  unsigned char bytes[24];
};

int main(void) {
  static struct big one, two;
  union either u = {.d = 2.5};
  for (int i = 0; i < 3000; i++) {
    one.v[i] = i;
    two.v[i] = -i;
  }
  for (int i = 0; i < 500; i++) one.w[i] = two.w[i] = i * 0.5;
  snprintf(one.name, sizeof one.name, "a name of thirty-two characters!");
  struct big local = one;
  long sum = 0;
  double real = 0;
#pragma omp target firstprivate(local, u) map(tofrom : sum, real)
  {
    for (int i = 0; i < 3000; i++) sum += local.v[i];
    for (int i = 0; i < 500; i++) real += local.w[i];
    for (int i = 0; local.name[i]; i++) sum += local.name[i];
    real += u.d;
    local.v[0] = 1;
  }
  printf("%ld %g %d\n", sum, real, local.v[0]);
#pragma omp target firstprivate(one, two) map(tofrom : sum)
  sum = one.v[2999] - two.v[2999];
  printf("%ld\n", sum);
  sum = 0;
#pragma omp target teams distribute parallel for firstprivate(local) reduction(+ : sum)
  for (int i = 0; i < 64; i++) sum += local.v[i * 40];
  printf("%ld\n", sum);
  return 0;
}
