/* The program ends, and nobody waits for what is in a queue. The argument says whether that fails. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int list[100];

static void handler(void)
{
  puts("handler");
}

int main(int argc, char **argv)
{
  long far = argc > 1 ? atol(argv[1]) : 0;
  atexit(handler);
#pragma acc enter data copyin(list)
#pragma acc parallel loop async(1) present(list)
  for (int i = 0; i < 100; i++)
    list[i + far] = i;
  if (argc > 2) {
    /* A child has nothing to do with the queues. */
    pid_t child = fork();
    if (child == 0)
      exit(0);
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0)
      puts("the child has failed");
  }
  exit(0);
}
