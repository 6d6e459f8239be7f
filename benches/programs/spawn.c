/* spawn COUNT PROGRAM [ARGUMENT...]: starts the program COUNT times, one after
 * another, and prints the wall time of a run and its peak memory.
 *
 * A program of its own, linked statically, because Linux folds the memory of
 * the process that calls exec into the peak of what it executes: a runner of a
 * few megabytes would hide the small figures. */
#include "bench.h"
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: spawn COUNT PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  int count = atoi(argv[1]);
  require(count > 0, "the count is not a positive number");
  double *samples = calloc((size_t)count, sizeof *samples);
  long peak_kib = 0;
  for (int run = 0; run < count; ++run) {
    pid_t child;
    int status;
    struct rusage usage;
    double start = now_ns();
    require(posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) == 0,
            "the program does not start");
    require(wait4(child, &status, 0, &usage) == child, "wait4 failed");
    samples[run] = now_ns() - start;
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0,
            "the program did not end with status 0");
    if (usage.ru_maxrss > peak_kib)
      peak_kib = usage.ru_maxrss;
  }
  print_samples(samples, count);
  printf("peak_kib %ld\n", peak_kib);
  return 0;
}
