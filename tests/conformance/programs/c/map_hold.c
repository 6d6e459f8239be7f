// covers: the ompx_hold modifier: a held mapping outlives release and delete
#include <omp.h>
#include <stdio.h>

static int a[4];

static void say(const char *what) {
  printf("%s: %d\n", what, omp_target_is_present(a, omp_get_default_device()));
}

int main(void) {
  a[0] = 1;
#pragma omp target data map(ompx_hold, tofrom : a)
  {
    say("held");
#pragma omp target exit data map(delete : a)
    say("held, after delete");
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(release : a)
    say("held, after release");
#pragma omp target map(ompx_hold, tofrom : a)
    a[0] = 42;
    say("held, after a region");
    printf("%d\n", a[0]);
#pragma omp target enter data map(to : a)
  }
  say("only the dynamic count is left");
#pragma omp target exit data map(from : a)
  say("end");
  printf("%d\n", a[0]);
  return 0;
}
