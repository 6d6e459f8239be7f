// functions: gangway_register_host_function gangway_unregister_host_function
// A child is forked while another thread registers: as a program that loads a library does.
#include "abi.h"

#include "../../../openmp/include/gangway/host_call.h"
#include <pthread.h>
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

int main(int argc, char **argv) {
  pthread_t thread;
  register_kernels(argv[1]);
  CHECK(pthread_create(&thread, 0, registers, 0) == 0);
  for (int round = 0; round < 300; ++round) {
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
