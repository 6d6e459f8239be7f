// covers: offloading from a thread with a stack of 128 KiB
// flags: -pthread
#include <pthread.h>
#include <stdio.h>

static void *work(void *argument) {
  int *a = argument;
#pragma omp target enter data map(to : a[0 : 10])
#pragma omp target
  for (int i = 0; i < 10; i++) a[i] *= 2;
#pragma omp target exit data map(from : a[0 : 10])
  return NULL;
}

int main(void) {
  int a[10] = {1, 2, 3};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_create(&thread, &attributes, work, a);
  pthread_join(thread, NULL);
  printf("%d %d\n", a[0], a[2]);
  return 0;
}
