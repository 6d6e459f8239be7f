// environment: GANGWAY_VGPU_DEVICES=2
// options: -pthread
// The routines and directives for devices: types, numbers, properties, start and end.
#include <openacc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

static acc_device_t type;

// Where a kernel runs, as the device says.
static int where(acc_device_t asked) {
  int answer = -1;
#pragma acc parallel num_gangs(1) copyout(answer) copyin(asked)
  answer = acc_on_device(asked);
  return answer;
}

static int on_device(void) {
  int is_host = type == acc_device_host;
  CHECK(where(acc_device_host) == is_host && where(acc_device_none) == is_host);
  CHECK(where(acc_device_not_host) == !is_host && !where(acc_device_default));
  CHECK(where(acc_device_nvidia) == (type == acc_device_nvidia) && where(acc_device_radeon) == (type == acc_device_radeon));
  CHECK(acc_on_device(acc_device_host) && !acc_on_device(acc_device_not_host));
  // What is false when it is compiled need not exist.
  extern void nowhere(void);
  int sum = 0;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 10; i++) {
    if (acc_on_device(acc_device_default)) nowhere();
    sum += i;
  }
  CHECK(sum == 45);
  return 0;
}

static int numbers(void) {
  int count = acc_get_num_devices(type);
  CHECK(count == (type == acc_device_host ? 1 : 2));
  CHECK(acc_get_num_devices(acc_device_host) == 1 && acc_get_num_devices(acc_device_none) == 0);
  CHECK(acc_get_num_devices(acc_device_current) == count);
  CHECK(acc_get_num_devices(acc_device_not_host) == (type == acc_device_host ? 0 : 2));
  CHECK(type == acc_device_radeon || acc_get_num_devices(acc_device_radeon) == 0);
  for (int number = count - 1; number >= 0; number--) {
    acc_set_device_num(number, acc_device_current);
    CHECK(acc_get_device_num(type) == number && acc_get_device_num(acc_device_current) == number);
    CHECK(acc_get_device_type() == type);
  }
  acc_set_device_num(count - 1, type);
  acc_set_device_type(acc_device_current);
  CHECK(acc_get_device_type() == type && acc_get_device_num(type) == count - 1);
#pragma acc set device_num(0)
  CHECK(acc_get_device_num(type) == 0);
  acc_set_device_type(acc_device_host);
  CHECK(acc_get_device_type() == acc_device_host && where(acc_device_host) == 1);
#pragma acc set device_num(0)
  CHECK(acc_get_device_type() == acc_device_host);
#pragma acc set device_type(default)
  CHECK(acc_get_device_type() == type);
#pragma acc set device_type(host) device_num(0) if (count == 7)
  CHECK(acc_get_device_type() == type);
#pragma acc set device_type(host) device_num(0) if (count < 7)
  CHECK(acc_get_device_type() == acc_device_host);
  if (type != acc_device_host) {
    if (type == acc_device_nvidia) {
#pragma acc set device_type(nvidia) device_num(1)
    } else {
#pragma acc set device_type(radeon) device_num(1)
    }
    CHECK(acc_get_device_num(type) == 1);
    CHECK(where(type) == 1);
  }
  acc_set_device_num(0, type);
  return 0;
}

static int properties(void) {
  int is_host = type == acc_device_host;
  const char *name = acc_get_property_string(0, type, acc_property_name);
  CHECK(name && *name);
  CHECK(!strcmp(name, acc_get_property_string(99, acc_device_current, acc_property_name)));
  CHECK(acc_get_property_string(0, type, acc_property_vendor) && acc_get_property_string(0, type, acc_property_driver));
  CHECK(acc_get_property(0, type, acc_property_shared_memory_support) == (size_t)is_host);
  CHECK(acc_get_property(0, acc_device_host, acc_property_shared_memory_support) == 1);
  size_t memory = acc_get_property(0, type, acc_property_memory);
  CHECK(is_host || memory > 0);
  CHECK(acc_get_property(0, type, acc_property_free_memory) <= memory);
  // Numbers are no texts, and the other way round.
  CHECK(!acc_get_property_string(0, type, acc_property_memory) && !acc_get_property(0, type, acc_property_name));
  return 0;
}

static int start_and_end(void) {
  int list[10] = {0};
  acc_shutdown(type);
  acc_init(type);
  // Once more, or never before: both are right.
  acc_init_device(0, type);
#pragma acc init
#pragma acc init device_type(default)
#pragma acc init device_type(host) if (list[0])
#pragma acc init device_type(default) device_num(0)
  CHECK(acc_get_device_type() == type);
  acc_copyin(list, sizeof list);
  CHECK(acc_is_present(list, sizeof list));
#pragma acc shutdown if (list[0])
  CHECK(acc_is_present(list, sizeof list));
  acc_shutdown(type);
#pragma acc shutdown device_type(default)
  CHECK(type == acc_device_host || !acc_is_present(list, sizeof list));
  if (type == acc_device_host) return 0;
  // Each device by itself.
  for (int number = 0; number < 2; number++) {
    acc_init_device(number, type);
    CHECK(acc_get_device_num(type) == number);
    acc_copyin(list, sizeof list);
  }
#pragma acc shutdown device_num(0)
  CHECK(acc_get_device_num(type) == 1 && acc_is_present(list, sizeof list));
  acc_set_device_num(0, type);
  CHECK(!acc_is_present(list, sizeof list));
  acc_shutdown_device(1, type);
  CHECK(acc_get_device_num(type) == 0);
  acc_set_device_num(1, type);
  CHECK(!acc_is_present(list, sizeof list));
  if (type == acc_device_radeon) {
#pragma acc shutdown device_type(radeon)
  } else {
#pragma acc shutdown device_type(nvidia)
  }
#pragma acc parallel loop copy(list)
  for (int i = 0; i < 10; i++) list[i] = i;
  CHECK(list[9] == 9);
  acc_set_device_num(0, type);
  return 0;
}

static void *in_thread(void *argument) {
  int *number = argument;
  acc_set_device_num(0, type);
  acc_set_device_num(acc_get_num_devices(type) - 1, type);
  number[0] = acc_get_device_num(type);
  acc_set_device_type(acc_device_host);
  number[1] = acc_get_device_type();
  return 0;
}

// A thread has its own device.
static int threads(void) {
  int number[2] = {-1, -1};
  pthread_t thread;
  acc_set_device_num(0, type);
  pthread_create(&thread, 0, in_thread, number);
  pthread_join(thread, 0);
  CHECK(number[0] == acc_get_num_devices(type) - 1 && number[1] == acc_device_host);
  CHECK(acc_get_device_num(type) == 0 && acc_get_device_type() == type);
  return 0;
}

int main(void) {
  type = acc_get_device_type();
  CHECK(type == acc_device_host || type == acc_device_nvidia || type == acc_device_radeon);
  if (on_device() || numbers() || properties() || start_and_end() || threads()) return 1;
  puts("ok");
  return 0;
}
