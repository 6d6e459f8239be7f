// covers: constructs without a device clause on the device with the least to do; present data ties them
// env: GANGWAY_BALANCE=1
// stock: differs because it has all of them run on the default device
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { REGIONS = 40, N = 4096 };

static int used[64];

/* How many devices have run something. */
static int devices_used(void) {
  int count = 0;
  for (int device = 0; device < 64; device++) {
    count += used[device] != 0;
    used[device] = 0;
  }
  return count;
}

static int *array(int value) {
  int *data = malloc(N * sizeof *data);
  for (int i = 0; i < N; i++)
    data[i] = value;
  return data;
}

/* Whether regions that may run at the same time are right. The last element of each one's data becomes
   the device's number. */
static int independent(void) {
  int *data[REGIONS], right = 1;
  for (int r = 0; r < REGIONS; r++)
    data[r] = array(r);
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int r = 0; r < REGIONS; r++) {
    int *own = data[r];
#pragma omp target map(tofrom : own[0 : N]) nowait
    {
      unsigned hash = 1;
      for (int i = 0; i < 400000; i++)
        hash = hash * 1664525u + 1013904223u + (unsigned)own[i % N];
      for (int i = 0; i < N - 1; i++)
        own[i] += hash ? 1 : 2;
      own[N - 1] = omp_get_device_num();
    }
  }
  for (int r = 0; r < REGIONS; r++) {
    for (int i = 0; i < N - 1; i++)
      right &= data[r][i] == r + 1;
    used[data[r][N - 1]]++;
    free(data[r]);
  }
  return right;
}

/* On a busy machine each region may have ended before the next one begins. */
static void attempts(void) {
  int right = 1, devices = 0;
  for (int attempt = 0; attempt < 10 && devices < 2; attempt++) {
    right &= independent();
    devices = devices_used();
  }
  printf("independent regions: %s, on %s\n", right ? "right" : "wrong",
         devices > 1 ? "several devices" : "one device");
}

/* Regions with data that is present go where it is, whatever else is under way. */
static void tied(void) {
  int *stays = array(5), *other = array(0), right = 1, devices = 0;
  /* Not where it is called: the other region's is the default device, as long as it runs. */
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target map(tofrom : other[0 : N]) nowait
    for (int i = 0; i < 50 * N; i++)
      other[i % N] += 1;
#pragma omp target enter data map(to : stays[0 : N])
    for (int round = 0; round < 10; round++) {
      int *next = array(round);
#pragma omp target map(tofrom : next[0 : N]) nowait
      for (int i = 0; i < N; i++)
        next[i] += 1;
#pragma omp target map(tofrom : stays[0 : N])
      {
        for (int i = 0; i < N - 1; i++)
          stays[i] += 1;
        stays[N - 1] = omp_get_device_num();
      }
#pragma omp target update from(stays[N - 1 : 1])
      used[stays[N - 1]]++;
#pragma omp taskwait
      right &= next[0] == round + 1 && next[N - 1] == round + 1;
      free(next);
    }
    for (int device = 0; device < omp_get_num_devices(); device++)
      devices += omp_target_is_present(stays, device);
    right &= stays[0] == 5;
#pragma omp target exit data map(from : stays[0 : N])
  }
  for (int i = 0; i < N - 1; i++)
    right &= stays[i] == 15;
  for (int i = 0; i < N; i++)
    right &= other[i] == 50;
  for (int device = 0; device < omp_get_num_devices(); device++)
    right &= !omp_target_is_present(stays, device);
  printf("present data: %s, on %d device, used by %d\n", right ? "right" : "wrong", devices, devices_used());
  free(stays);
  free(other);
}

/* Each thread's data stays together, on a device of the thread's. */
static void threads(void) {
  int right = 1;
#pragma omp parallel num_threads(2) reduction(& : right)
  {
    int *one = array(1), *two = array(2);
    for (int round = 0; round < 20; round++) {
#pragma omp target data map(tofrom : one[0 : N])
      {
#pragma omp barrier
#pragma omp target data map(tofrom : two[0 : N])
#pragma omp target map(tofrom : one[0 : N], two[0 : N])
        for (int i = 0; i < N; i++)
          two[i] += one[i];
#pragma omp target map(tofrom : one[0 : N])
        one[N - 1] = omp_get_device_num();
      }
#pragma omp atomic
      used[one[N - 1]]++;
      one[N - 1] = 1;
    }
    for (int i = 0; i < N; i++)
      right &= one[i] == 1 && two[i] == 22;
    free(one);
    free(two);
  }
  printf("data of two threads: %s, on %d devices\n", right ? "right" : "wrong", devices_used());
}

/* A pointer of a device's is good on that device. */
static void pointers(void) {
  int last = omp_get_num_devices() - 1, sum = 0, value = 7;
  int *there = omp_target_alloc(sizeof *there, last);
  omp_target_memcpy(there, &value, sizeof value, 0, 0, last, omp_get_initial_device());
  for (int round = 0; round < 3; round++) {
    int result = 0;
#pragma omp target is_device_ptr(there) map(from : result)
    result = *there;
    sum += result;
  }
  omp_target_free(there, last);
  printf("a device's pointer: %d\n", sum);
}

int main(void) {
  attempts();
  tied();
  threads();
  pointers();
  return 0;
}
