// covers: exit(3) from a POSIX thread while the main thread sits in a target region on another device
// status: 6
// stock: unusable because it crashes now and then: the main thread runs a region while it is torn down
// flags: -pthread
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int flag;

static void *leave(void *argument) {
  (void)argument;
  while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) {
  }
  int x = 1;
#pragma omp target map(tofrom : x) device(1)
  x += 4;
  printf("leaving with %d\n", x);
  exit(6);
}

int main(void) {
  pthread_t thread;
  int data[4] = {0};
#pragma omp target enter data map(to : data)
  pthread_create(&thread, NULL, leave, NULL);
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  for (;;) {
#pragma omp target map(tofrom : data)
    data[0]++;
  }
}
