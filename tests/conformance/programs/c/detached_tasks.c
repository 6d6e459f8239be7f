// covers: target nowait that waits for a detached task's event, priority, final tasks
#include <omp.h>
#include <stdio.h>

int main(void) {
  int x = 1;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x)
    x = 2;
#pragma omp target nowait depend(inout : x) map(tofrom : x)
    x *= 21;
#pragma omp task
    omp_fulfill_event(event);
#pragma omp taskwait
  }
  printf("%d\n", x);
#pragma omp task final(1) shared(x)
  {
#pragma omp target nowait map(tofrom : x)
    x++;
#pragma omp taskwait
  }
  printf("%d\n", x);
  return 0;
}
