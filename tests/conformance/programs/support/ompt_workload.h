// What the OMPT programs do; the tool that watches decides what is logged.
#include <omp.h>
#include <stdio.h>

#pragma omp declare target
int global = 1;
#pragma omp end declare target

int main(void) {
  int a[10] = {0}, b[10] = {0}, host = omp_get_initial_device();
  printf("-- region\n");
#pragma omp target map(tofrom : a) map(to : b)
  a[0] = b[0] + global;
  printf("-- teams\n");
#pragma omp target teams num_teams(3) map(alloc : a)
  a[omp_get_team_num()] = 1;
  printf("-- target data\n");
#pragma omp target data map(tofrom : a)
  {
#pragma omp target map(always, to : a)
    a[1] = 2;
#pragma omp target update from(a[0 : 5])
  }
  printf("-- enter and exit\n");
#pragma omp target enter data map(to : a) map(alloc : b)
#pragma omp target update to(a)
#pragma omp target exit data map(from : a) map(release : b)
  printf("-- global\n");
#pragma omp target update from(global)
  printf("-- nowait\n");
#pragma omp target nowait map(tofrom : a)
  a[2] = 3;
#pragma omp taskwait
  printf("-- another device\n");
#pragma omp target device(1) map(from : b)
  b[0] = 1;
  printf("-- memory routines\n");
  int *p = omp_target_alloc(40, 0);
  omp_target_memcpy(p, a, 40, 0, 0, 0, host);
  omp_target_memcpy(b, p, 20, 0, 0, host, 0);
  omp_target_memset(p, 0, 40, 0);
  omp_target_associate_ptr(a, p, 40, 0, 0);
  omp_target_disassociate_ptr(a, 0);
  omp_target_free(p, 0);
  printf("-- nothing to do\n");
#pragma omp target
  {
  }
#pragma omp target if (0)
  a[3] = 1;
  printf("-- end\n");
  return 0;
}
