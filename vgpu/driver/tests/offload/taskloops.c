/* libgomp wakes as many threads as there are new tasks, and takes their number from that of those
 * who wait without a look at whether so many have come. On hardware they have: the warps of a
 * block advance evenly while one of them makes the tasks. */
#include <stdio.h>

int main(void) {
  for (int round = 0; round < 3; round++) {
    for (int threads = 1; threads <= 32; threads += threads < 9 ? 1 : 5) {
      for (int tasks = 1; tasks <= 40; tasks += tasks < 9 ? 2 : 10) {
        int done = 0, all = 0;
#pragma omp target map(tofrom : done, all) map(to : threads, tasks)
#pragma omp parallel num_threads(threads)
#pragma omp master
        {
#pragma omp taskloop num_tasks(tasks) shared(done)
          for (int i = 0; i < 768; i++) {
#pragma omp atomic
            done += 1;
          }
          all = done;
        }
        if (done != 768 || all != 768) {
          fprintf(stderr, "%d threads, %d tasks: %d of 768, %d at the end of the loop\n", threads,
                  tasks, done, all);
          return 1;
        }
      }
    }
  }
  return 0;
}
