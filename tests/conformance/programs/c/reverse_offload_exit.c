// covers: exit from a region of device(ancestor: 1), while device code waits for it
// stock: unusable because reverse offload is not in it
// translated: yes
// status: exit 3
#include <stdio.h>
#include <stdlib.h>

#pragma omp requires reverse_offload

static void last(void) { printf("the host's exit handler\n"); }

int main(void) {
  int steps = 0;
  atexit(last);
#pragma omp target map(tofrom : steps)
  {
    while (steps < 100) {
      steps++;
#pragma omp target device(ancestor : 1)
      {
        printf("step %d\n", steps);
        if (steps == 2)
          exit(3);
      }
    }
  }
  printf("not reached\n");
  return 0;
}
