// covers: hundreds of short-lived threads that each offload, and more threads at once than cores
// flags: -pthread
#include <pthread.h>
#include <stdio.h>

static void *work(void *argument) {
  long x = (long)argument, y[4] = {0};
#pragma omp target map(tofrom : y) firstprivate(x)
  for (int i = 0; i < 4; i++) y[i] = x * i;
  return (void *)(y[1] + y[2] + y[3]);
}

int main(void) {
  long sum = 0;
  void *result;
  for (long i = 0; i < 300; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, (void *)i);
    pthread_join(thread, &result);
    sum += (long)result;
  }
  printf("%ld\n", sum);
  pthread_t threads[48];
  sum = 0;
  for (long i = 0; i < 48; i++) pthread_create(&threads[i], NULL, work, (void *)(i * 7));
  for (int i = 0; i < 48; i++) {
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  printf("%ld\n", sum);
  return 0;
}
