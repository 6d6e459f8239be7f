// functions: gangway_register_host_function gangway_unregister_host_function
// A child is forked while another thread registers: as a program that loads a library does.
// Each of many processes forks while its first function is registered.
#define _GNU_SOURCE
#include "abi.h"

#include "../../../openmp/include/gangway/host_call.h"
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>

static atomic_int done;

static void nothing(void *block, size_t size) {}

static void *registers(void *unused) {
  while (!done) {
    gangway_register_host_function("nothing", nothing);
    gangway_unregister_host_function("nothing", nothing);
  }
  return unused;
}

static int forks(char *image, int rounds) {
  pthread_t thread;
  register_kernels(image);
  CHECK(pthread_create(&thread, 0, registers, 0) == 0);
  for (int round = 0; round < rounds; ++round) {
    pid_t child = fork();
    if (child == 0) {
      // A lock that nobody gives up any more would be waited for.
      alarm(10);
      gangway_register_host_function("another", nothing);
      _exit(gangway_unregister_host_function("another", nothing));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  done = 1;
  CHECK(pthread_join(thread, 0) == 0);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 2) return forks(argv[1], 3);
  for (int process = 0; process < 100; ++process) {
    char *arguments[] = {argv[0], argv[1], "first", 0};
    pid_t child;
    int status;
    CHECK(posix_spawn(&child, argv[0], 0, 0, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  return forks(argv[1], 300);
}
