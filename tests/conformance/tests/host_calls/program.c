/* A region, and by REGISTERS a function for host calls, and by CALLS a region that may call it.
 * Prints what the region has computed and how many threads serve host calls. */
#ifdef REGISTERS
#include <gangway/host_call.h>
#endif
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef REGISTERS
static void answer(void *block, size_t size) { memset(block, 1, size); }
GANGWAY_HOST_FUNCTION(answer);
#endif

static int serving_threads(void)
{
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
      count += fgets(name, sizeof name, file) != NULL && strncmp(name, "gangway-calls", 13) == 0;
      fclose(file);
    }
  }
  closedir(tasks);
  return count;
}

int main(int argc, char **argv)
{
  int x = argc;
  for (int turn = 0; turn < 3; turn++) {
    #pragma omp target map(tofrom: x)
    {
      x = 2 * x + 1;
#ifdef CALLS
      if (x == 1001)
        GANGWAY_HOST_CALL(answer, &x, sizeof x);
#endif
    }
  }
  int threads = serving_threads();
#ifdef CALLS
  /* A thread gives itself its name when it first runs. */
  for (int turn = 0; threads == 0 && turn < 5000; turn++, threads = serving_threads())
    usleep(1000);
#endif
  printf("x %d\nthreads %d\n", x, threads);
  return (void)argv, 0;
}
