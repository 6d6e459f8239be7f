// covers: the main thread ends with pthread_exit while another thread goes on offloading
// flags: -pthread
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_t main_thread;

static void *work(void *argument) {
  (void)argument;
  pthread_join(main_thread, NULL);
  int x = 1;
  for (int i = 0; i < 5; i++) {
#pragma omp target map(tofrom : x)
    x *= 3;
  }
  printf("%d\n", x);
  return NULL;
}

int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x = 1;
  printf("%d\n", x);
  main_thread = pthread_self();
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_exit(NULL);
}
