/* What the host runs: by clause, by number, by the environment; and dependences. */
#include "check.h"
#include <omp.h>

static int on_host(void)
{
  int here = -1;
#pragma omp target map(from : here)
  here = omp_is_initial_device();
  return here;
}

int main(int count, char **arguments)
{
  int host_only = count > 1, here = 0, value = 1;
  CHECK(on_host() == host_only);
#pragma omp target if (0) map(from : here)
  here = omp_is_initial_device();
  CHECK(here == 1);
#pragma omp target device(omp_get_initial_device()) map(from : here) thread_limit(3)
  here = omp_is_initial_device() + omp_get_thread_limit();
  CHECK(here == 4);
#pragma omp target data if (0) map(to : value)
  {
    CHECK(host_only || !omp_target_is_present(&value, 0));
#pragma omp target data map(to : value)
    CHECK(host_only || omp_target_is_present(&value, 0));
  }
  CHECK(host_only || !omp_target_is_present(&value, 0));
#pragma omp target parallel if (target : 0) num_threads(2) map(from : here)
  if (omp_get_thread_num() == 0)
    here = omp_get_num_threads();
  CHECK(here == 2);

  /* A region waits for the tasks that it depends on, with the values of before. */
  int step = 0, copy = 5, result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : step) shared(step, copy)
    {
      for (volatile int i = 0; i < 1000000; i++)
        ;
      step = 1;
    }
#pragma omp target depend(inout : step) map(tofrom : step) firstprivate(copy) map(from : result)
    step += 1, result = copy;
#pragma omp target nowait depend(inout : step) map(tofrom : step)
    step *= 10;
#pragma omp target update nowait depend(inout : step) from(step)
#pragma omp task depend(in : step) shared(step)
    step += 3;
#pragma omp taskwait
  }
  CHECK(step == 23 && result == 5);
  (void)arguments;
  puts("passed");
}
