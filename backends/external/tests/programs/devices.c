/* Several types of device in one program. Prints what it finds, in order; checks
 * the rest itself. Three null devices and however many x86-64 ones. */
#include "null_image.h"

#include <omp.h>

#pragma omp begin declare target
static int counter = 100;
struct node {
  int value;
  int *list;
};
#pragma omp end declare target

#define SIZE 1000

static void count_on(int device)
{
#pragma omp target device(device)
  counter++;
}

static int counted_on(int device)
{
  int value = -1;
#pragma omp target device(device) map(from : value)
  value = counter;
  return value;
}

/* Private copies, small and large, pointers inside structures, a reduction. */
static void compute_on(int device)
{
  double values[SIZE], large[200], factor = 1.5;
  int list[4] = {1, 2, 3, 4};
  struct node node = {7, list};
  for (int i = 0; i < SIZE; i++)
    values[i] = i;
  for (int i = 0; i < 200; i++)
    large[i] = 2 * i;
  char aligned_as = 0;
  __attribute__((aligned(64))) double vector[8] = {1, 2, 3, 4, 5, 6, 7, 8};

#pragma omp target teams distribute parallel for device(device) map(tofrom : values) \
    firstprivate(large, factor)
  for (int i = 0; i < SIZE; i++)
    values[i] = values[i] * factor + large[i % 200];
  for (int i = 0; i < SIZE; i++)
    CHECK(values[i] == i * 1.5 + 2 * (i % 200));

  double sum = 0;
#pragma omp target teams distribute parallel for device(device) map(to : values) reduction(+ : sum)
  for (int i = 0; i < SIZE; i++)
    sum += values[i];
  double expected = 0;
  for (int i = 0; i < SIZE; i++)
    expected += values[i];
  CHECK(sum == expected);

#pragma omp target device(device) map(tofrom : node, node.list[0 : 4])
  {
    node.value = node.list[3];
    node.list[0] = 10;
  }
  CHECK(node.value == 4 && node.list == list && list[0] == 10);

#pragma omp target device(device) firstprivate(aligned_as, vector) map(from : sum)
  {
    aligned_as++;
    vector[0]++;
    sum = (uintptr_t)vector % 64 + vector[0] + vector[7];
  }
  CHECK(sum == 10 && vector[0] == 1);
}

/* Copies from one device to another, of whatever types, and back. */
static void copy_from_to(int source, int target)
{
  int values[SIZE], back[SIZE] = {0};
  for (int i = 0; i < SIZE; i++)
    values[i] = i + source;
  int *there = omp_target_alloc(sizeof values, source), *here = omp_target_alloc(sizeof values, target);
  CHECK(there && here);
  const int host = omp_get_initial_device();
  CHECK(omp_target_memcpy(there, values, sizeof values, 0, 0, source, host) == 0);
#pragma omp target device(source) is_device_ptr(there)
  for (int i = 0; i < SIZE; i++)
    there[i] *= 2;
  CHECK(omp_target_memcpy(here, there, sizeof values - 8, 8, 0, target, source) == 0);
  CHECK(omp_target_memset(here, 0, 8, target) == here);
#pragma omp target device(target) is_device_ptr(here)
  for (int i = 0; i < SIZE; i++)
    here[i] += 1;
  CHECK(omp_target_memcpy(back, here, sizeof values, 0, 0, host, target) == 0);
  CHECK(back[0] == 1 && back[1] == 1);
  for (int i = 2; i < SIZE; i++)
    CHECK(back[i] == (i - 2 + source) * 2 + 1);
  omp_target_free(there, source);
  omp_target_free(here, target);
}

/* One array on all devices at once, with a value of its own on each. */
static void map_on_all(int devices)
{
  int values[8] = {0};
  for (int device = 0; device < devices; device++) {
    for (int i = 0; i < 8; i++)
      values[i] = 10 * device;
#pragma omp target enter data map(to : values) device(device)
  }
  for (int device = 0; device < devices; device++) {
    CHECK(omp_target_is_present(values, device));
#pragma omp target device(device) map(present, tofrom : values)
    for (int i = 0; i < 8; i++)
      values[i] += i;
  }
  CHECK(values[7] == 10 * (devices - 1));
  for (int device = devices; device-- > 0;) {
#pragma omp target update from(values) device(device)
    for (int i = 0; i < 8; i++)
      CHECK(values[i] == 10 * device + i);
#pragma omp target exit data map(delete : values) device(device)
    CHECK(!omp_target_is_present(values, device));
  }
}

int main(void)
{
  const int devices = omp_get_num_devices();
  printf("%d devices\n", devices);
  for (int device = 0; device <= devices; device++) {
    const char *uid = omp_get_uid_from_device(device);
    CHECK(omp_get_device_from_uid(uid) == device);
    printf("%d %s\n", device, uid);
  }
  if (getenv("ONLY_COUNT"))
    return 0;
  for (int device = 0; device < devices; device++) {
    for (int i = 0; i <= device; i++)
      count_on(device);
    compute_on(device);
  }
  for (int device = 0; device < devices; device++)
    CHECK(counted_on(device) == 101 + device);
  CHECK(counter == 100);
  for (int source = 0; source < devices; source++)
    for (int target = 0; target < devices; target++)
      copy_from_to(source, target);
  map_on_all(devices);
  printf("done\n");
  return 0;
}
