// covers: abort in a target region, while a thread of the host waits until its output is read
// status: signal 6
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *write_output(void *none)
{
  putchar('x'); // Has stdout locked, for ever.
  return none;
}

int main(void)
{
  static const char text[] = "host: stdout is full\n";
  char page[4096] = "";
  int ends[2];
  pthread_t writer;
  if (write(1, text, sizeof text - 1) < 0 || pipe(ends) || dup2(ends[1], 1) < 0)
    return 1;
  fcntl(1, F_SETFL, O_NONBLOCK);
  while (write(1, page, sizeof page) > 0)
    ;
  fcntl(1, F_SETFL, 0);
  setvbuf(stdout, NULL, _IONBF, 0);
  if (pthread_create(&writer, NULL, write_output, NULL))
    return 1;
  while (!ftrylockfile(stdout)) {
    funlockfile(stdout);
    usleep(1000);
  }
#pragma omp target
  {
    if (getenv("GANGWAY_TEST_NOT_SET"))
      puts("not reached");
    abort();
  }
  return 0;
}
