// functions: gangway_host_call gangway_host_call_device
// functions: gangway_register_host_function gangway_unregister_host_function
#include "abi.h"

#include "../../../openmp/include/gangway/host_call.h"

static void twice(void *block, size_t size) {
  CHECK(size == sizeof(int) && gangway_host_call_device() == omp_get_initial_device());
  *(int *)block *= 2;
}

static void other(void *block, size_t size) {}

int main(void) {
  int value = 21;
  CHECK(gangway_host_call(gangway_host_function("twice"), &value, sizeof value) == 1 && value == 21);
  CHECK(gangway_register_host_function("twice", twice) == 0);
  CHECK(gangway_register_host_function("twice", other) == -1);
  CHECK(gangway_register_host_function(0, other) == -1);
  CHECK(gangway_register_host_function("none", 0) == -1);
  CHECK(gangway_host_call(gangway_host_function("twice"), &value, sizeof value) == 0 && value == 42);
  CHECK(gangway_host_call(gangway_host_function("twice"), 0, sizeof value) == 2);
  CHECK(gangway_host_call_device() == -1);
  CHECK(gangway_unregister_host_function("twice", other) == -1);
  CHECK(gangway_unregister_host_function("twice", twice) == 0);
  CHECK(gangway_unregister_host_function("twice", twice) == -1);
  CHECK(gangway_host_call(gangway_host_function("twice"), &value, sizeof value) == 1);
  return 0;
}
