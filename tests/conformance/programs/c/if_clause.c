// covers: if clauses on target, target data, enter/exit data, update and on combined constructs
#include <omp.h>
#include <stdio.h>

static int run(int offload) {
  int where = -1;
#pragma omp target if (offload) map(from : where)
  where = omp_is_initial_device();
  return where;
}

int main(int argc, char **argv) {
  (void)argv;
  int a[2] = {1, 2}, yes = argc > 0, no = argc > 100, threads = 0, host = 0;
  printf("%d %d\n", run(no), run(yes));
#pragma omp target data if (no) map(to : a)
  printf("present %d\n", omp_target_is_present(a, omp_get_default_device()));
#pragma omp target enter data if (yes) map(to : a)
  printf("present %d\n", omp_target_is_present(a, omp_get_default_device()));
  a[0] = 10;
#pragma omp target update if (no) to(a)
#pragma omp target exit data if (no) map(from : a)
#pragma omp target exit data if (yes) map(from : a)
  printf("%d\n", a[0]);
#pragma omp target parallel if (target : yes) if (parallel : no) map(from : threads, host)
  {
    threads = omp_get_num_threads();
    host = omp_is_initial_device();
  }
  printf("%d thread, host %d\n", threads, host);
#pragma omp target teams distribute parallel for if (target : no) map(from : host)
  for (int i = 0; i < 1; i++) host = omp_is_initial_device();
  printf("host %d\n", host);
  return 0;
}
